import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { load } from 'js-yaml';
import { openValues, type Schema } from '../../protocol/openapi.ts';

type Node = Readonly<Record<string, unknown>>;

function contractAt(path: string): Node {
  const url = new URL(`../../contract/${path}`, import.meta.url);
  return load(readFileSync(url, 'utf8')) as Readonly<Record<string, unknown>>;
}

/** Keys whose values are for people, or lists that clients know may grow. */
const NOT_BINDING = ['description', 'summary', 'example', 'examples', 'x-extensible-enum'];

/** A contract without what may change at any time. */
function binding(node: unknown, name = ''): unknown {
  if (Array.isArray(node)) return node.map((item) => binding(item));
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node)
    // A property can have the name of a keyword.
    .filter(([key]) => name === 'properties' || !NOT_BINDING.includes(key))
    .map(([key, value]) => [key, binding(value, key)]);
  return Object.fromEntries(entries);
}

function codesOf(contract: Node): readonly string[] {
  const { components } = contract as {
    components: { schemas: { Error: { properties: { code: Schema } } } };
  };
  return openValues(components.schemas.Error.properties.code)!;
}

function versionOf(contract: Node): string {
  return (contract.info as { version: string }).version;
}

/** Why a contract may not be released after another one; undefined if it may. */
function breakOf(released: Node, now: Node): string | undefined {
  const lost = codesOf(released).filter((code) => !codesOf(now).includes(code));
  if (lost.length > 0) return `error codes are gone: ${lost.join(', ')}`;
  const isSame = JSON.stringify(binding(released)) === JSON.stringify(binding(now));
  if (isSame) return undefined;
  const [before, after] = [versionOf(released), versionOf(now)];
  const isBeta = /^2\.0\.0-beta\.(\d+)$/;
  const isNewBeta = Number(isBeta.exec(after)?.[1]) > Number(isBeta.exec(before)?.[1]);
  return isNewBeta ? undefined : `it differs from the released ${before} and is ${after}`;
}

for (const version of ['v1', 'v2']) {
  test(`the contract of ${version} does not break the released one`, () => {
    const reason = breakOf(contractAt(`released/${version}.yaml`), contractAt(`${version}.yaml`));
    assert.equal(reason, undefined);
  });
}

test('a contract that breaks the released one is detected', () => {
  const released = contractAt('released/v2.yaml');
  const changed = (path: readonly string[], value: unknown) => {
    const copy = structuredClone(released);
    const child = (node: unknown, key: string) => (node as Record<string, unknown>)[key];
    const parent = path.slice(0, -1).reduce<unknown>(child, copy);
    (parent as Record<string, unknown>)[path.at(-1)!] = value;
    return copy;
  };
  const limit = ['components', 'parameters', 'Limit', 'schema', 'maximum'];
  assert.match(breakOf(released, changed(limit, 100))!, /differs/);
  assert.match(breakOf(released, changed(['paths', '/store/summary'], undefined))!, /differs/);
  assert.equal(breakOf(released, changed(['info', 'description'], 'other')), undefined);
  const renumbered = structuredClone(changed(limit, 100)) as { info: { version: string } };
  renumbered.info.version = '2.0.0-beta.999';
  assert.equal(breakOf(released, renumbered as unknown as Node), undefined);
  const codes = ['components', 'schemas', 'Error', 'properties', 'code', 'x-extensible-enum'];
  assert.match(breakOf(released, changed(codes, []))!, /error codes are gone/);
});
