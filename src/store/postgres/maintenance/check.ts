import type { Environment } from '../../../domain/api-key.ts';
import { foreignObjects, schemaDifferences } from '../../expected-schema.ts';
import { StoreNotUsable } from '../../store.ts';
import { checkAudit } from '../../tables/audit-chain.ts';
import { countedRows, type Findings, type StoreCheck } from '../../tables/consistency.ts';
import { checkHeads } from '../../tables/heads.ts';
import { text } from '../../tables/session.ts';
import { requireStoreRow } from '../../tables/store-row.ts';
import { describeSchema } from '../database/catalog.ts';
import { chainedRows } from '../database/compute-heads.ts';
import { newSession } from '../database/connection.ts';
import { hasSchema, KNOWN_MIGRATIONS, missingMigrations } from '../database/schema.ts';
import { BEGIN_SNAPSHOT } from '../database/session.ts';
import { BULK } from '../database/session-settings.ts';

/** Does not check PostgreSQL's own files; PostgreSQL has tools for that. */
export async function checkPostgres(url: string, options: StoreCheck = {}): Promise<Findings> {
  let schema: Findings['schema'] | undefined;
  using session = await newSession(url, BULK, async (each) => {
    if (!(await hasSchema(each))) throw new StoreNotUsable('it contains no store');
    const missing = await missingMigrations(each);
    schema = { has: KNOWN_MIGRATIONS - missing.length, knows: KNOWN_MIGRATIONS };
    await each.run(BEGIN_SNAPSHOT);
  });
  const [store] = await session.query(STORE);
  const [identity, environment, movedTo, bytes, ...numbers] = requireStoreRow(store);
  const [revision, pending, shipped, cancelled] = numbers as [bigint, bigint, bigint, bigint];
  const isCurrent = schema!.has === schema!.knows;
  const found = isCurrent ? await describeSchema(session) : [];
  const differences = isCurrent ? schemaDifferences('postgresql', found) : [];
  const counters = { revision, pending, shipped, cancelled };
  // If the rows cannot be counted, the cause is already listed as a difference.
  const isKnown = () => differences.length > 0;
  const counted = await countedRows(session, { has: schema!.has, counters }, options, isKnown);
  // to_jsonb writes bytes as \x and hexadecimal digits.
  const head = text(bytes)?.slice('\\x'.length);
  const latest = head === undefined ? undefined : { revision, head };
  const canRead = isCurrent && differences.length === 0;
  return {
    schema: schema!,
    schemaDifferences: differences,
    foreign: isCurrent ? foreignObjects(found) : [],
    identity: text(identity),
    environment: text(environment) as Environment | undefined,
    movedTo: text(movedTo),
    revision,
    head,
    heads: canRead
      ? await checkHeads(session, (after) => chainedRows(session, after), latest, options)
      : undefined,
    audit: canRead ? await checkAudit(session) : [],
    ...counted,
  };
}

/** Through to_jsonb, since older schemas lack some of the columns. */
const STORE = `SELECT to_jsonb(store) ->> 'identity', to_jsonb(store) ->> 'environment', to_jsonb(store) ->> 'moved_to',
    to_jsonb(store) ->> 'head', revision, pending, shipped, cancelled
  FROM store`;
