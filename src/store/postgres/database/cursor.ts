import type { Row, Value } from '../../tables/session.ts';
import type { Session } from './session.ts';

/**
 * Reads the rows of a query in batches, inside a transaction: each is fetched while the one before it is used.
 * @param cursor its name is that of one query only, since statements that fetch from it are prepared
 */
export async function* batchesOf(
  session: Session,
  { cursor, size }: { readonly cursor: string; readonly size: number },
  sql: string,
  values: readonly Value[] = [],
): AsyncGenerator<readonly Row[]> {
  const fetch = `FETCH ${size} FROM ${cursor}`;
  const [, first] = await Promise.all([
    session.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, values),
    session.query(fetch),
  ]);
  try {
    for (let rows = first; rows.length > 0; ) {
      const next = rows.length < size ? Promise.resolve([]) : session.query(fetch);
      // Awaited below; the empty handler prevents an unhandled rejection until then.
      next.catch(() => {});
      yield rows;
      rows = await next;
    }
  } finally {
    // After a failed read, the transaction is over, and the error of the read is thrown.
    await session.run(`CLOSE ${cursor}`).catch(() => {});
  }
}
