import type { Environment } from '../../../keys/api-key.ts';
import { schemaDifferences } from '../../expected-schema.ts';
import {
  type Counters,
  compare,
  countsSql,
  type Findings,
  type SchemaVersion,
} from '../../tables/consistency.ts';
import { text } from '../../tables/session.ts';
import { requireStoreRow } from '../../tables/store-row.ts';
import { describeSchema } from '../database/catalog.ts';
import { newSession } from '../database/connection.ts';
import { expectSchema } from '../database/schema.ts';
import { BEGIN_SNAPSHOT, type Session } from '../database/session.ts';
import { BULK } from '../database/time-limits.ts';

/**
 * Checks every row of the store at `url`, of this release or an earlier one, in one snapshot. Writes nothing. Does
 * not check PostgreSQL's own files; PostgreSQL has tools for that.
 * @throws StoreNotUsable if there is no store, or it cannot be reached
 */
export async function checkPostgres(url: string): Promise<Findings> {
  let schema: Findings['schema'] | undefined;
  const session = await newSession(url, BULK, async (each) => {
    schema = await expectSchema(each);
    await each.run(BEGIN_SNAPSHOT);
  });
  try {
    const [store] = await session.query(STORE);
    const [environment, movedTo, ...numbers] = requireStoreRow(store);
    const [revision, pending, shipped, cancelled] = numbers as bigint[];
    const counters = {
      revision: revision!,
      pending: pending!,
      shipped: shipped!,
      cancelled: cancelled!,
    };
    const differences =
      schema!.has === schema!.knows
        ? schemaDifferences('postgresql', await describeSchema(session))
        : [];
    const counted = await countsOf(session, counters, schema!, differences.length === 0);
    return {
      schema: schema!,
      schemaDifferences: differences,
      environment: text(environment) as Environment | undefined,
      movedTo: text(movedTo),
      revision: revision!,
      ...counted,
    };
  } finally {
    session.destroy();
  }
}

/** Counts the orders and compares the result with the counters, unless a difference of the schema prevents it. */
async function countsOf(
  session: Session,
  counters: Counters,
  schema: SchemaVersion,
  isComplete: boolean,
): Promise<ReturnType<typeof compare>> {
  try {
    const [counts] = await session.query(countsSql(schema));
    return compare(counters, counts as bigint[]);
  } catch (error) {
    if (isComplete) throw error;
    const { pending, shipped, cancelled } = counters;
    const problems = [`the orders cannot be counted: ${(error as Error).message}`];
    return { orders: { pending, shipped, cancelled }, problems };
  }
}

/** Through to_jsonb, since older schemas lack some of the columns. */
const STORE = `SELECT to_jsonb(store) ->> 'environment', to_jsonb(store) ->> 'moved_to',
    revision, pending, shipped, cancelled
  FROM store`;
