import type { ApiKey, Environment } from '../../keys/api-key.ts';
import { isOrderCommand } from '../../orders/lifecycle.ts';
import { Sequence } from '../sequence.ts';
import type { OutcomeOf, StoreCommand } from '../store.ts';
import { changeLockedOrders, changeOrders } from './change-orders.ts';
import type { Connection } from './connection.ts';
import { highestId, importOrders } from './import-orders.ts';
import { arrayOf, textArray } from './rows.ts';
import type { Session } from './session.ts';
import { present, presentHere } from './store-row.ts';
import { inTransaction } from './transaction.ts';

/** The write half of the PostgreSQL engine. */
export class Writer {
  readonly #connection: Connection;
  readonly #transactions = new Sequence();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** See Store.apply. Calls are serialized, since a connection has one transaction at a time. */
  apply(commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> {
    return this.#transactions.run(() => this.#apply(commands));
  }

  /** Resolves when pending transactions have ended. */
  idle(): Promise<void> {
    return this.#transactions.idle();
  }

  async #apply(commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> {
    const session = await this.#connection.session();
    if (commands.every(isOrderCommand)) return changeOrders(session, commands);
    const [only] = commands;
    // These block other writers for at most one statement or message, however slow the command is.
    if (commands.length === 1 && only!.type === 'importOrders') {
      return [await importOrders(session, only!)];
    }
    if (commands.length === 1 && only!.type === 'putPets') return [await putPets(session, only!)];
    if (commands.length === 1 && only!.type === 'recordKeyUse') {
      return [await recordKeyUse(session, only!)];
    }
    const evenIfMoved = commands.every(({ type }) => type === 'takeBack');
    return inTransaction(session, () => carryOutAll(session, commands), { evenIfMoved });
  }
}

async function carryOutAll(
  session: Session,
  commands: readonly StoreCommand[],
): Promise<OutcomeOf<StoreCommand>[]> {
  const outcomes: OutcomeOf<StoreCommand>[] = [];
  for (const command of commands) outcomes.push(await carryOut(session, command));
  return outcomes;
}

async function carryOut(session: Session, command: StoreCommand): Promise<OutcomeOf<StoreCommand>> {
  switch (command.type) {
    case 'place':
    case 'cancel':
    case 'ship':
      return (await changeLockedOrders(session, [command]))[0]!;
    case 'recordEnvironment':
      return recordEnvironment(session, command.environment);
    case 'moveAway': {
      const moved = await session.write(SQL.moveAway, [command.to, command.revision]);
      return moved.length === 0 ? 'changed' : 'moved';
    }
    case 'takeBack': {
      const back = await session.write(SQL.takeBack);
      return back.length === 0 ? 'unchanged' : 'taken_back';
    }
    case 'createKey':
      return createKey(session, command.key);
    case 'createFirstKey': {
      const [other] = await session.query(SQL.anyKey, [command.key.environment]);
      return other === undefined ? createKey(session, command.key) : 'unchanged';
    }
    case 'revokeKey':
      return revokeKey(session, command.id);
    case 'recordKeyUse':
      return recordKeyUse(session, command);
    case 'putPets':
      return putPets(session, command);
    case 'importProgress':
      return {
        placed: await placed(session, command.source),
        highestId: await highestId(session),
      };
    case 'beginImport': {
      const { source, run, from, highestId } = command;
      if ((await placed(session, source)) !== from) return 'out_of_turn';
      await session.write(SQL.beginImport, [source, run, from, highestId]);
      return 'begun';
    }
    case 'importOrders':
      return importOrders(session, command);
    case 'endImport': {
      const { source, run } = command;
      const ended = await session.write(SQL.endImport, [source, run]);
      return ended.length === 0 ? 'out_of_turn' : 'ended';
    }
  }
}

async function recordKeyUse(
  session: Session,
  { ids, at }: Extract<StoreCommand, { type: 'recordKeyUse' }>,
): Promise<'recorded'> {
  await session.write(SQL.recordKeyUse, [at, textArray(ids)]);
  return 'recorded';
}

async function recordEnvironment(session: Session, wanted: Environment): Promise<Environment> {
  await session.write(SQL.recordEnvironment, [wanted]);
  const [row] = await session.query(SQL.environment);
  return present(row)[0] as Environment;
}

async function createKey(session: Session, key: ApiKey): Promise<'created'> {
  const { id, name, environment, digest, createdAt, expiresAt } = key;
  const values = [id, name, environment, Buffer.from(digest), createdAt, expiresAt ?? null];
  await session.write(SQL.insertKey, values);
  return 'created';
}

async function revokeKey(session: Session, id: string) {
  const [key] = await session.query(SQL.key, [id]);
  if (key === undefined) return 'key_not_found';
  if (key[0] !== null) return 'unchanged';
  await session.write(SQL.revokeKey, [Date.now(), id]);
  return 'revoked';
}

/** Stores pets in one statement, which locks the row of the table store first, as every writer does. */
async function putPets(
  session: Session,
  { pets }: Extract<StoreCommand, { type: 'putPets' }>,
): Promise<'stored'> {
  // ON CONFLICT cannot update a row twice in one statement.
  const last = [...new Map(pets.map((pet) => [pet.id, pet])).values()];
  const [row] = await session.write(SQL.putPets, [
    arrayOf(last.map(({ id }) => id)),
    textArray(last.map(({ name }) => name)),
    textArray(last.map(({ tag }) => tag)),
  ]);
  presentHere(row);
  return 'stored';
}

/** Returns how many rows of an import have been placed. */
async function placed(session: Session, source: string): Promise<number> {
  const [row] = await session.query(SQL.importProgress, [source]);
  return row === undefined ? 0 : Number(row[0]);
}

const SQL = {
  recordEnvironment: { text: 'UPDATE store SET environment = $1 WHERE environment IS NULL' },
  environment: { text: 'SELECT environment FROM store' },
  moveAway: { text: 'UPDATE store SET moved_to = $1 WHERE revision = $2 RETURNING revision' },
  takeBack: {
    text: `UPDATE store SET moved_to = NULL, id = left(replace(gen_random_uuid()::text, '-', ''), 16)
      WHERE moved_to IS NOT NULL RETURNING revision`,
  },
  insertKey: {
    text: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6)`,
  },
  anyKey: { text: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1' },
  key: { text: 'SELECT revoked_at FROM api_keys WHERE id = $1' },
  revokeKey: { text: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2' },
  recordKeyUse: {
    text: `UPDATE api_keys SET last_used_at = greatest(last_used_at, $1) WHERE id = ANY ($2::text[])`,
  },
  putPets: {
    text: `WITH turn AS (SELECT only_row FROM store WHERE moved_to IS NULL FOR UPDATE),
      stored AS (
        INSERT INTO pets (id, name, tag)
        SELECT p.id, p.name, p.tag
        FROM turn, unnest($1::bigint[], $2::text[], $3::text[]) AS p (id, name, tag)
        ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag)
      SELECT FROM turn`,
  },
  importProgress: { text: 'SELECT placed FROM imports WHERE source = $1' },
  beginImport: {
    text: `INSERT INTO imports (source, run, placed, highest_id) VALUES ($1, $2, $3, $4)
      ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed,
      highest_id = excluded.highest_id`,
  },
  endImport: { text: 'DELETE FROM imports WHERE source = $1 AND run = $2 RETURNING source' },
} as const;
