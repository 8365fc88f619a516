import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from 'js-yaml';
import {
  callsSource,
  errorCodesSource,
  operationsSource,
  recordsSource,
} from '../../build/records.ts';
import { StoreOrders } from '../../client/src/client.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('types and error codes are those of the contracts ("node build/records.ts" writes them)', () => {
  const formatted = (source: string) =>
    source.replaceAll(/[\s|;(),]+|'(?=[\w.]+':)|(?<=[\w.])'(?=:)/g, '');
  for (const [name, source] of [
    ['records', recordsSource()],
    ['operations', operationsSource()],
    ['calls', callsSource()],
    ['error-codes', errorCodesSource()],
  ] as const) {
    assert.ok(formatted(read(`protocol/generated/${name}.ts`)) === formatted(source), name);
  }
});

test('the client has a method for every operation of the contracts', () => {
  const client = new StoreOrders({ baseUrl: 'https://x.example', apiKey: 'x' });
  for (const [version, methods] of [
    ['v1', client.v1],
    ['v2', client],
  ] as const) {
    const { paths } = load(read(`contract/${version}.yaml`)) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const operations of Object.values(paths)) {
      for (const { operationId } of Object.values(operations)) {
        // `changes` reads pages and the stream.
        const method = operationId === 'streamChanges' ? 'changes' : operationId;
        assert.equal(typeof (methods as never)[method], 'function', `${version} ${operationId}`);
      }
    }
  }
});
