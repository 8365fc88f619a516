import type { Environment } from '../../keys/api-key.ts';
import { compare, countsSql, type Findings } from '../consistency.ts';
import { newSession } from './connection.ts';
import { expectSchema } from './schema.ts';
import { BEGIN_SNAPSHOT } from './session.ts';
import { present } from './store-row.ts';
import { BULK } from './time-limits.ts';

/**
 * Checks every row of the store at `url`, of this release or an earlier one, in one snapshot. Writes nothing. Does
 * not check PostgreSQL's own files; PostgreSQL has tools for that.
 * @throws StoreNotUsable if there is no store, or it cannot be reached
 */
export async function checkPostgres(url: string): Promise<Findings> {
  let schema: Findings['schema'] | undefined;
  const session = await newSession(url, BULK, async (each) => {
    schema = await expectSchema(each);
    await each.query(BEGIN_SNAPSHOT);
  });
  try {
    const [store] = await session.query({ text: STORE });
    const [environment, movedTo, ...numbers] = present(store);
    const [revision, pending, shipped, cancelled] = numbers.map((text) => BigInt(text!));
    const counters = {
      revision: revision!,
      pending: pending!,
      shipped: shipped!,
      cancelled: cancelled!,
    };
    const [counts] = await session.query({ text: countsSql(schema!) });
    return {
      schema: schema!,
      environment: (environment ?? undefined) as Environment | undefined,
      movedTo: movedTo ?? undefined,
      revision: revision!,
      ...compare(
        counters,
        counts!.map((text) => BigInt(text!)),
      ),
    };
  } finally {
    session.destroy();
  }
}

/** Through to_jsonb, since older schemas lack some of the columns. */
const STORE = `SELECT to_jsonb(store) ->> 'environment', to_jsonb(store) ->> 'moved_to',
    revision, pending, shipped, cancelled
  FROM store`;
