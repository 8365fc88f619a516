import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { documentsWithTables } from '../build/docs.ts';

test('the tables of settings and commands are those of the code ("node build/docs.ts" writes them)', () => {
  for (const [name, text] of Object.entries(documentsWithTables())) {
    const found = readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');
    assert.equal(found, text, name);
  }
});
