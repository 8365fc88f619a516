import type { Batch, LimitedKey } from '../../domain/batch.ts';
import {
  type HourlyUse,
  LIMIT_WINDOW_MS,
  LIMITED_ACTIONS,
  secondOf,
} from '../../domain/hourly-limit.ts';
import { byText, expectWritten, jsonRows, type Session } from './session.ts';

/** Returns the recorded cancels and placements of keys with a limit. */
export async function findUses(session: Session, keys: readonly LimitedKey[]) {
  const found: (HourlyUse & LimitedKey)[] = [];
  for (const action of LIMITED_ACTIONS) {
    const ids = keys.filter((key) => key.action === action).map(({ by }) => [by]);
    if (ids.length === 0) continue;
    const rows = await session.query(SQL[action].find[session.engine], [jsonRows(ids)]);
    for (const [by, second, count] of rows) {
      found.push({ by: by as string, action, second: Number(second), count: Number(count) });
    }
  }
  return found;
}

/** Records what keys with a limit have cancelled and placed, inside a transaction, and deletes what no longer counts. */
export async function recordUses(session: Session, batch: Batch): Promise<void> {
  const { now } = batch;
  for (const { by, action, count } of batch.taken()) {
    const { deleteOthers, record } = SQL[action];
    const [from, to] = [now - LIMIT_WINDOW_MS, now + LIMIT_WINDOW_MS].map((at) =>
      Math.floor(at / 1000),
    );
    await session.write(deleteOthers[session.engine], [by, from, to]);
    expectWritten(await session.write(record, [by, secondOf(now), count]), 1);
  }
}

const statements = (table: string) => ({
  find: byText(
    (c) => `SELECT key_id, second, count FROM ${table}
    WHERE key_id${c} IN (SELECT value ->> 0 FROM json_array_elements($1::json))`,
  ),
  deleteOthers: byText(
    (c) => `DELETE FROM ${table} WHERE key_id${c} = $1 AND (second <= $2 OR second > $3)`,
  ),
  record: `INSERT INTO ${table} (key_id, second, count) VALUES ($1, $2, $3)
    ON CONFLICT (key_id, second) DO UPDATE SET count = ${table}.count + excluded.count`,
});

const SQL = { cancel: statements('cancel_uses'), place: statements('place_uses') } as const;
