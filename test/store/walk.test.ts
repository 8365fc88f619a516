import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { PageQuery } from '../../src/store/pages.ts';
import { orderBy, partsBetween, sqlOf, valuesOf, walkOf } from '../../src/store/sqlite/walk.ts';
import { temporaryFolder } from '../temporary.ts';
import { open } from './engines.ts';

test('SQLite: every part of a walk after a position seeks its index, whatever the filters', async (t) => {
  const path = join(temporaryFolder(t), 'store.db');
  await open(t, `sqlite:${path}`, 'migration');
  const db = new DatabaseSync(path, { readOnly: true });
  t.after(() => db.close());
  /** A place in each index, and later ones: with the same sort key, and with another. */
  const places = {
    shipDate: [
      { sortKey: [5n], id: 1n },
      { sortKey: [5n], id: 9n },
      { sortKey: [8n], id: 2n },
    ],
    placedAt: [
      { sortKey: [5n], id: 1n },
      { sortKey: [5n], id: 9n },
      { sortKey: [8n], id: 2n },
    ],
    updatedAt: [
      { sortKey: [5n, 1n], id: 1n },
      { sortKey: [5n, 1n], id: 9n },
      { sortKey: [5n, 2n], id: 2n },
      { sortKey: [8n, 3n], id: 2n },
    ],
    reference: [
      { sortKey: ['PO-1'], id: 1n },
      { sortKey: ['PO-1'], id: 9n },
      { sortKey: ['PO-2'], id: 2n },
    ],
  } as const;
  const filters: PageQuery['filter'][] = [
    { statuses: ['pending'] },
    { shipDateFrom: 1, shipDateBefore: 9, petId: 1n },
    { placedFrom: 1, placedBefore: 9 },
    { updatedFrom: 1, updatedBefore: 9 },
  ];
  for (const sort of ['shipDate', 'placedAt', 'updatedAt', 'reference'] as const) {
    const [begin, ...later] = places[sort];
    for (const isDescending of [false, true]) {
      for (const each of filters) {
        for (const end of [undefined, ...later]) {
          const filter = { ...each, referencePrefix: 'PO' };
          const isSwapped = isDescending && end !== undefined;
          const [after, last] = isSwapped ? [end, begin] : [begin, end];
          const walk = walkOf({ filter, sort, isDescending });
          const parts = partsBetween(walk, after, last);
          assert.ok(parts.length > 0);
          for (const part of parts) {
            const sql = `SELECT 1 FROM ${walk.index} WHERE ${sqlOf(part.conditions)} ${orderBy(walk, part)}`;
            const values = valuesOf(part.conditions) as bigint[];
            const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
            const details = plan.map(({ detail }) => String(detail)).join('; ');
            assert.match(details, /^SEARCH /, `${sql}: ${details}`);
            // By the time of change, the events of one revision are sorted, at most 10,000.
            const ofRevision = /TEMP B-TREE FOR LAST TERM|\(at=\? AND revision=\?\).* TEMP B-TREE/;
            const isSorted = details.includes('TEMP B-TREE') && !ofRevision.test(details);
            assert.ok(!isSorted, `${sql}: ${details}`);
          }
        }
      }
    }
  }
});
