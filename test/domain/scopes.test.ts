import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isAllowed,
  newApiKey,
  newSecret,
  parseScopes,
  SCOPES,
  scopesText,
} from '../../src/domain/api-key.ts';

test('scopes are parsed as they were stored, and a key without scopes has none stored', () => {
  for (const scopes of [undefined, SCOPES, ...SCOPES.map((scope) => [scope])]) {
    assert.deepEqual(parseScopes(scopesText(scopes)), scopes);
  }
});

test('a key with scopes of a later release only may do nothing that this release knows', () => {
  const scopes = parseScopes('orders:readonly orders changes:write');
  assert.deepEqual(scopes, []);
  const key = newApiKey(newSecret('production'), {
    ...{ name: 'k', environment: 'production', now: 0 },
    ...(scopes && { scopes }),
  });
  for (const scope of SCOPES) assert.equal(isAllowed(key, scope), false, scope);
});
