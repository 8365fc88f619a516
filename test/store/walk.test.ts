import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { PageQuery } from '../../src/store/pages.ts';
import { orderOf, partsBetween, sqlOf, valuesOf, walkOf } from '../../src/store/sqlite/walk.ts';
import { temporaryFolder } from '../temporary.ts';
import { open } from './engines.ts';

test('SQLite: every part of a walk after a position seeks its index, whatever the filters', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  await open(t, `sqlite:${path}`, 'migration');
  const db = new DatabaseSync(path, { readOnly: true });
  t.after(() => db.close());
  const positions = [
    [{ time: 5n, id: 1n }, undefined],
    [
      { time: 5n, id: 1n },
      { time: 5n, id: 9n },
    ],
    [
      { time: 5n, id: 1n },
      { time: 8n, id: 2n },
    ],
  ] as const;
  const filters: PageQuery['filter'][] = [
    { statuses: ['pending'] },
    { shipDateFrom: 1, shipDateBefore: 9, petId: 1n },
    { placedFrom: 1, placedBefore: 9 },
  ];
  for (const sort of ['shipDate', 'placedAt'] as const) {
    for (const isDescending of [false, true]) {
      for (const filter of filters) {
        for (const [first, second] of positions) {
          const isSwapped = isDescending && second !== undefined;
          const [after, last] = isSwapped ? [second, first] : [first, second];
          const walk = walkOf({ filter, sort, isDescending });
          const parts = partsBetween(walk, after, last);
          assert.ok(parts.length > 0);
          for (const part of parts) {
            const sql = `SELECT 1 FROM ${walk.index} WHERE ${sqlOf(part.conditions)} ${orderOf(walk, part)}`;
            const values = valuesOf(part.conditions) as bigint[];
            const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
            const details = plan.map(({ detail }) => String(detail)).join('; ');
            assert.match(details, /^SEARCH /, `${sql}: ${details}`);
            assert.doesNotMatch(details, /TEMP B-TREE/, `${sql}: ${details}`);
          }
        }
      }
    }
  }
});
