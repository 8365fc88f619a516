import type { ApiKey } from '../../keys/api-key.ts';
import { Batch } from '../../orders/batch.ts';
import { idOf, isOrderCommand, type OrderCommand } from '../../orders/lifecycle.ts';
import type { Order, OrderId } from '../../orders/order.ts';
import type { Pet } from '../../pets/pet.ts';
import { type Command, type OutcomeOf, StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';
import { arrayOf, copyNotComplete, ORDER_COLUMNS, orderFromRow } from './rows.ts';
import { DIVISION_BY_ZERO, type Session, sqlState } from './session.ts';

/**
 * How often a batch is worked out anew because another node changed one of its orders between reading
 * and writing. An order changes twice in its life at most, so this is never reached by chance.
 */
const MAX_ATTEMPTS = 10;

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

/**
 * Carries out commands on orders in two round trips: reads, and one statement that writes if none of
 * the orders has changed since. So no lock is ever held while a node thinks, or has stopped thinking.
 */
async function changeOrders(
  session: Session,
  commands: readonly OrderCommand[],
): Promise<OutcomeOf<OrderCommand>[]> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const known = await readOrders(session, commands.map(idOf));
    const batch = new Batch(known.orders);
    const outcomes = commands.map((command) => batch.carryOut(command));
    if (await writeBatch(session, batch, known.revisions)) return outcomes;
  }
  throw new StoreUnavailable('other nodes changed the same orders again and again');
}

/** Orders as they were read, and when each had last changed. */
export interface KnownOrders {
  readonly orders: readonly Order[];
  readonly revisions: ReadonlyMap<OrderId, string>;
}

export async function readOrders(session: Session, ids: readonly OrderId[]): Promise<KnownOrders> {
  const rows = await session.query(SQL.read, [arrayOf([...new Set(ids)])]);
  const orders = rows.map(orderFromRow);
  return { orders, revisions: new Map(orders.map(({ id }, index) => [id, rows[index]![6]!])) };
}

/**
 * Writes what came of a batch: all of it or, if one of its orders is no longer as it was read, nothing
 * and false. The row of the store is taken first, so that writers of all nodes come one after another.
 */
export async function writeBatch(
  session: Session,
  { changed, happenings, growth, now }: Batch,
  revisions: KnownOrders['revisions'],
): Promise<boolean> {
  if (changed.size === 0) return true;
  const orders = [...changed.values()];
  try {
    const rows = await session.write(SQL.write, [
      growth.pending,
      growth.shipped,
      growth.cancelled,
      arrayOf(orders.map(({ id }) => id)),
      arrayOf(orders.map(({ id }) => revisions.get(id))),
      arrayOf(orders.map(({ status }) => status)),
      arrayOf(orders.map(({ petId }) => petId)),
      arrayOf(orders.map(({ quantity }) => quantity)),
      arrayOf(orders.map(({ shipDate }) => shipDate)),
      arrayOf(orders.map(({ complete }) => complete)),
      arrayOf(happenings.map(({ id }) => id)),
      arrayOf(happenings.map(({ type }) => type)),
      happenings.map(({ by }) => by ?? null),
      now,
    ]);
    if (rows.length === 0) throw copyNotComplete();
    return true;
  } catch (error) {
    if (sqlState(error) === DIVISION_BY_ZERO) return false;
    throw error;
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
  read: {
    name: 'read',
    text: `SELECT ${ORDER_COLUMNS}, revision FROM orders WHERE id = ANY ($1::bigint[])`,
  },
  // Every part takes its rows from "turn", so nothing of it happens before the row of the store is
  // locked. An order that changed since it was read is not updated, one that came since not inserted;
  // then fewer are written than asked for, and the division by zero undoes it all.
  write: {
    name: 'write',
    text: `WITH turn AS (
        UPDATE store SET revision = revision + 1, pending = pending + $1, shipped = shipped + $2,
          cancelled = cancelled + $3
        RETURNING revision),
      given AS (
        SELECT * FROM unnest($4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[],
          $9::bigint[], $10::boolean[])
          AS g (id, known_revision, status, pet_id, quantity, ship_date, complete)),
      placed AS (
        INSERT INTO orders (${ORDER_COLUMNS}, revision)
        SELECT ${ORDER_COLUMNS}, turn.revision FROM turn, given WHERE known_revision IS NULL
        ON CONFLICT DO NOTHING RETURNING id),
      changed AS (
        UPDATE orders SET status = given.status, pet_id = given.pet_id, quantity = given.quantity,
          ship_date = given.ship_date, complete = given.complete, revision = turn.revision
        FROM turn, given
        WHERE orders.id = given.id AND orders.revision = given.known_revision
        RETURNING orders.id),
      events AS (
        INSERT INTO order_events (order_id, revision, type, at, by)
        SELECT e.id, turn.revision, e.type, $14, e.by
        FROM turn, unnest($11::bigint[], $12::text[], $13::text[]) AS e (id, type, by))
      SELECT 1 / ((SELECT count(*) FROM placed) + (SELECT count(*) FROM changed)
        = cardinality($4))::integer FROM turn`,
  },
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
