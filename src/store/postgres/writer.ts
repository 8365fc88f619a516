import type { ApiKey } from '../../keys/api-key.ts';
import { Batch } from '../../orders/batch.ts';
import { isOrderCommand } from '../../orders/lifecycle.ts';
import type { Pet } from '../../pets/pet.ts';
import type { Command, OutcomeOf } from '../store.ts';
import { changeOrders, readOrders, writeBatch } from './change-orders.ts';
import type { Connection } from './connection.ts';
import { copyNotComplete } from './rows.ts';
import type { Session } from './session.ts';

/** The write half of the PostgreSQL engine. */
export class Writer {
  readonly #connection: Connection;
  #last: Promise<unknown> = Promise.resolve();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Store.apply. One after another, since a connection has one transaction at a time. */
  apply(commands: readonly Command[]): Promise<OutcomeOf<Command>[]> {
    const run = () => this.#apply(commands);
    const result = this.#last.then(run, run);
    this.#last = result;
    return result;
  }

  /** When the transactions under way have ended. */
  async idle(): Promise<void> {
    await this.#last.catch(() => {});
  }

  async #apply(commands: readonly Command[]): Promise<OutcomeOf<Command>[]> {
    const session = await this.#connection.session();
    return commands.every(isOrderCommand)
      ? changeOrders(session, commands)
      : inTransaction(session, () => carryOutAll(session, commands));
  }
}

/** Alone among all writers from beginning to end. A session on which it fails is not used again. */
async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  try {
    const [, locked] = await Promise.all([
      session.query({ text: 'BEGIN' }),
      session.query({ text: 'SELECT FROM store FOR UPDATE' }),
    ]);
    if (locked.length === 0) throw copyNotComplete();
    const result = await work();
    await session.write({ text: 'COMMIT' });
    return result;
  } catch (error) {
    session.destroy();
    throw error;
  }
}

async function carryOutAll(
  session: Session,
  commands: readonly Command[],
): Promise<OutcomeOf<Command>[]> {
  const outcomes: OutcomeOf<Command>[] = [];
  for (const command of commands) outcomes.push(await carryOut(session, command));
  return outcomes;
}

async function carryOut(session: Session, command: Command): Promise<OutcomeOf<Command>> {
  switch (command.type) {
    case 'place':
    case 'cancel':
    case 'ship':
      return (await changeOrders(session, [command]))[0]!;
    case 'createKey':
      return createKey(session, command.key);
    case 'createFirstKey': {
      const [other] = await session.query(SQL.anyKey, [command.key.environment]);
      return other === undefined ? createKey(session, command.key) : 'unchanged';
    }
    case 'revokeKey':
      return revokeKey(session, command.id);
    case 'putPet':
      return putPet(session, command.pet);
    case 'importProgress':
      return importProgress(session, command.source);
    case 'beginImport': {
      const { source, run, from, highestId } = command;
      if ((await importProgress(session, source)) !== from) return 'out_of_turn';
      await session.write(SQL.beginImport, [source, run, from, highestId]);
      return 'begun';
    }
    case 'importOrders':
      return importOrders(session, command);
  }
}

async function importOrders(
  session: Session,
  command: Extract<Command, { type: 'importOrders' }>,
): Promise<OutcomeOf<typeof command>> {
  const { source, run, orders, isLast } = command;
  const [inTurn, highest, known] = await Promise.all([
    session.query(SQL.importInTurn, [source, run]),
    session.query(SQL.highestId),
    readOrders(
      session,
      orders.flatMap(({ id }) => id ?? []),
    ),
  ]);
  if (inTurn.length === 0) return { refusal: 'out_of_turn' };
  const batch = new Batch(known.orders);
  const outcome = batch.placeAll(orders, BigInt(highest[0]![0]!));
  if (outcome.refusal !== undefined) return outcome;
  await Promise.all([
    writeBatch(session, batch, known.revisions),
    isLast
      ? session.write(SQL.forgetImport, [source])
      : session.write(SQL.advanceImport, [orders.length, source]),
  ]);
  return outcome;
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

async function putPet(session: Session, { id, name, tag }: Pet): Promise<'stored'> {
  await session.write(SQL.putPet, [id, name ?? null, tag ?? null]);
  return 'stored';
}

async function importProgress(session: Session, source: string): Promise<number> {
  const [row] = await session.query(SQL.importProgress, [source]);
  return row === undefined ? 0 : Number(row[0]);
}

const SQL = {
  insertKey: {
    text: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6)`,
  },
  anyKey: { text: 'SELECT 1 FROM api_keys WHERE environment = $1 LIMIT 1' },
  key: { text: 'SELECT revoked_at FROM api_keys WHERE id = $1' },
  revokeKey: { text: 'UPDATE api_keys SET revoked_at = $1 WHERE id = $2' },
  putPet: {
    text: `INSERT INTO pets (id, name, tag) VALUES ($1, $2, $3)
      ON CONFLICT (id) DO UPDATE SET name = excluded.name, tag = excluded.tag`,
  },
  importProgress: { text: 'SELECT placed FROM imports WHERE source = $1' },
  beginImport: {
    text: `INSERT INTO imports (source, run, placed, highest_id) VALUES ($1, $2, $3, $4)
      ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed,
      highest_id = excluded.highest_id`,
  },
  highestId: {
    text: `SELECT greatest((SELECT max(id) FROM orders), (SELECT max(highest_id) FROM imports), 0)`,
  },
  importInTurn: { text: 'SELECT 1 FROM imports WHERE source = $1 AND run = $2' },
  advanceImport: { text: 'UPDATE imports SET placed = placed + $1 WHERE source = $2' },
  forgetImport: { text: 'DELETE FROM imports WHERE source = $1' },
} as const;
