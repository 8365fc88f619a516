import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { resolved } from '../../protocol/openapi.ts';
import { Contract } from '../../src/http/contract/contract.ts';

const CONFIGURATIONS = ['docs/proxies/nginx.conf', 'deploy/container/nginx.conf'];

/** Operations that end an order: a repetition changes nothing more, whether it has an Idempotency-Key or not. */
const ENDING = ['cancelOrder', 'shipOrder'];

for (const name of CONFIGURATIONS) {
  test(`${name} repeats a POST of any operation exactly if that changes nothing more`, () => {
    const text = readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
    const [, map] = /\$may_be_repeated \{(.*?)\}/s.exec(text)!;
    const patterns = [...map!.matchAll(/"~(.+)" 1;/g)].map(([, pattern]) => new RegExp(pattern!));
    const matched = new Set<RegExp>();
    for (const version of ['v1', 'v2'] as const) {
      const { document } = Contract.load(version);
      for (const [path, methods] of Object.entries(document.paths)) {
        for (const [method, operation] of Object.entries(methods)) {
          const { operationId, parameters = [] } = operation;
          const takesKey = parameters.some(
            (each) => resolved(document, each).name === 'Idempotency-Key',
          );
          const uri = `/${version}${path.replace('{webhookId}', 'wh_0123456789abcdef').replaceAll(/\{\w+\}/g, '-5')}`;
          for (const key of ['', 'k:1']) {
            const asked = `${method.toUpperCase()}:${key}:${uri}`;
            const found = patterns.filter((pattern) => pattern.test(asked));
            for (const pattern of found) matched.add(pattern);
            const isEnding = version === 'v2' && ENDING.includes(operationId);
            const isSafe = method === 'post' && (isEnding || (takesKey && key !== ''));
            assert.equal(found.length > 0, isSafe, asked);
          }
        }
      }
    }
    assert.equal(matched.size, patterns.length, 'each pattern is of an operation');
  });
}
