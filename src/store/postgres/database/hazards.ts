import { type Finding, problem } from '../../diagnosis.ts';
import { StoreUnavailable } from '../../store.ts';
import { TABLES } from '../../tables/copied.ts';
import { text } from '../../tables/session.ts';
import type { Session } from './session.ts';

/** The condition of pg_class on the tables of the store. */
export const TABLES_HERE = `relname IN (${['store', 'webhook_lease', ...TABLES.map(({ name }) => name)].map((name) => `'${name}'`).join()})
    AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('store'))`;

/** Finds what lets PostgreSQL lose rows of the store, or change them beside its nodes, without an error. */
export async function hazardsOf(session: Session): Promise<Finding[]> {
  const [row] = await session.query(HAZARDS);
  const [unlogged, subscribed, zeroDamaged, ignoreChecksums] = row!;
  const hazards: Finding[] = [];
  const add = (found: string, advice: string) => hazards.push(problem('durability', found, advice));
  if (text(unlogged) !== undefined) {
    const found = `tables are UNLOGGED, and a crash of the server empties them: ${unlogged}`;
    add(found, 'ALTER TABLE … SET LOGGED; if they are empty, restore a backup');
  }
  const settings = { zero_damaged_pages: zeroDamaged, ignore_checksum_failure: ignoreChecksums };
  for (const [name, value] of Object.entries(settings)) {
    if (value !== 'on') continue;
    const found = `${name} is on, so that rows of damaged pages are missing or wrong without an error`;
    add(found, `turn ${name} off for this role and database`);
  }
  if (subscribed === 1n) {
    const found = 'a subscription of logical replication writes its tables, so ids are given twice';
    add(found, 'DROP SUBSCRIPTION before a node is started here');
  }
  return hazards;
}

/** Called with every new session: a server that has crashed, or was replaced, has none of the former ones. @throws StoreUnavailable */
export async function expectNoHazard(session: Session): Promise<void> {
  const [hazard] = await hazardsOf(session);
  if (hazard === undefined) return;
  throw new StoreUnavailable(`PostgreSQL: ${hazard.found}: ${hazard.advice}`, 'damaged');
}

const HAZARDS = `SELECT (SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relpersistence = 'u' AND ${TABLES_HERE}),
  EXISTS (SELECT FROM pg_subscription_rel JOIN pg_class ON pg_class.oid = srrelid WHERE ${TABLES_HERE}),
  current_setting('zero_damaged_pages'), current_setting('ignore_checksum_failure')`;
