import { createHash } from 'node:crypto';
import { toJson } from '../../../protocol/exact-json.ts';
import { INT64_MIN } from '../../domain/order.ts';
import { ACKNOWLEDGED, type AuditRecord } from '../audit.ts';
import { byText, type Row, rowText, type Session, text } from './session.ts';

/**
 * The chain of the audit records: the hash of each is over the hash before it and its own fields, and the row of the store has the last one. So a record
 * that was changed or deleted by hand is seen, unless all later hashes were computed again. Each record has two digests of all API keys, before and
 * after its command: a key that was changed by hand has changed between two records, or since the last one.
 *
 * The chain begins with the first record since migration 029, whose hash covers all records before it. After a change by hand, an acknowledgement
 * continues it from the records as they are.
 */

/** Reads RECORD_COLUMNS. */
export function recordFromRow([id, at, command, user, host, what]: Row): AuditRecord {
  const texts = { command, user, host, what } as Omit<AuditRecord, 'id' | 'at'>;
  return { id: id as bigint, at: Number(at), ...texts };
}

export const RECORD_COLUMNS = 'audit.id, at, command, os_user, host, what';

/** Returns the hash of a record. @param before of the record before; empty for the first one */
export function hashAfter(
  before: Uint8Array,
  { id, at, command, user, host, what }: AuditRecord,
  keys: string | undefined,
): Uint8Array {
  const record = toJson([id, at, command, user, host, what, keys ?? '']);
  return createHash('sha256').update(before).update(record).digest();
}

/** Returns the digest of all API keys, except when they were last used. */
export async function digestOfKeys(session: Session): Promise<string> {
  const hash = createHash('sha256');
  for (const row of await session.query(SQL.keys[session.engine])) {
    // Without a ticket, the digest is as it was before there were any.
    const { length } = row;
    hash.update(rowText(row.slice(0, row[length - 1] === null ? length - 2 : length)));
  }
  return hash.digest('base64url');
}

/** Returns the end of the chain, to which a record of a command is added; before the first one, and for an acknowledgement, of all records as they are. */
export async function endOfChain(session: Session, command: string): Promise<Uint8Array> {
  const [[head] = []] = await session.query(SQL.head);
  if (head instanceof Uint8Array && command !== ACKNOWLEDGED) return head;
  let end: Uint8Array = new Uint8Array();
  for await (const { record, keys, hash } of recordsInOrder(session)) {
    end = hash ?? hashAfter(end, record, keys);
  }
  return end;
}

/** Problems that are listed; a table that was replaced has any number. */
const MAX_NAMED = 20;

/** Compares the audit records, and the API keys, with the chain. @returns one line per problem */
export async function checkAudit(session: Session): Promise<string[]> {
  const problems: string[] = [];
  let end: Uint8Array = new Uint8Array();
  let isChained = false;
  let keysBefore: string | undefined;
  for await (const { record, keys, hash } of recordsInOrder(session)) {
    const { id } = record;
    end = hashAfter(end, record, keys);
    if (isChained || hash !== undefined) {
      if (hash === undefined) problems.push(`the audit record ${id} was added by hand`);
      else if (!isSame(hash, end)) {
        problems.push(`the audit record ${id}, or one before it, was changed or deleted by hand`);
      }
      const [before, after] = keys?.split(' ') ?? [];
      if (keysBefore !== undefined && before !== undefined && before !== keysBefore) {
        problems.push(`API keys were changed without a record, before the audit record ${id}`);
      }
      keysBefore = after ?? keysBefore;
      // What was found before it is known.
      const isContinued = hash !== undefined && isSame(hash, end);
      if (record.command === ACKNOWLEDGED && isContinued) problems.length = 0;
      end = hash ?? end;
      isChained = true;
    }
  }
  const [[head] = []] = await session.query(SQL.head);
  if (head instanceof Uint8Array && !isSame(head, end)) {
    problems.push('the last audit records were deleted or changed by hand');
  }
  if (keysBefore !== undefined && keysBefore !== (await digestOfKeys(session))) {
    problems.push('API keys were changed without a record, since the last audit record');
  }
  const [[dangling] = []] = await session.query(SQL.dangling);
  if (Number(dangling) > 0) {
    problems.push(`${dangling} revisions of operators name an audit record that does not exist`);
  }
  return problems.slice(0, MAX_NAMED);
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

const RECORDS_AT_ONCE = 1_000;

/** Reads all records with the fields of the chain: "BEFORE AFTER" of the keys, and the hash. */
async function* recordsInOrder(session: Session) {
  // The program begins at 1; a record that was added by hand can have any id.
  for (let after = INT64_MIN; ; ) {
    const rows = await session.query(SQL.records, [after, RECORDS_AT_ONCE]);
    for (const row of rows) {
      const [keys, hash] = row.slice(6);
      const bytes = (hash ?? undefined) as Uint8Array | undefined;
      yield { record: recordFromRow(row), keys: text(keys), hash: bytes };
    }
    if (rows.length < RECORDS_AT_ONCE) return;
    after = rows.at(-1)![0] as bigint;
  }
}

const SQL = {
  head: 'SELECT audit_head FROM store',
  keys: byText(
    (
      c,
    ) => `SELECT id, name, environment, digest, created_at, expires_at, revoked_at, scopes, cancels_per_hour, places_per_hour,
      former_digest, former_until, ticket_digest, ticket_until FROM api_keys ORDER BY id${c}`,
  ),
  records: `SELECT ${RECORD_COLUMNS}, keys, hash FROM audit WHERE id > $1 ORDER BY id LIMIT $2`,
  dangling: `SELECT count(*) FROM operator_revisions WHERE NOT EXISTS (SELECT 1 FROM audit WHERE audit.id = audit_id)`,
} as const;
