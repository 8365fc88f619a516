import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ApiKey } from '../../keys/api-key.ts';
import {
  type Decision,
  decide,
  type OrderCommand,
  type OrderOutcome,
} from '../../orders/lifecycle.ts';
import { INT64_MAX, type Order, type OrderId, type OrderStatus } from '../../orders/order.ts';
import type { Command, OutcomeOf } from '../store.ts';
import { retryWhileBusy } from './connection.ts';
import { ORDER_COLUMNS, orderFromRow, type Row } from './rows.ts';

type Decided = Decision & { readonly before: Order | undefined };

/** The write half of the SQLite engine, synchronous: it lives in a thread of its own. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #lockWaitMs: number;
  readonly #statements: Statements;
  /** Of the transaction under way. */
  #revision = 0n;
  #changedOrders = 0;
  #counts: Record<OrderStatus, number> = { pending: 0, shipped: 0, cancelled: 0 };
  #now = 0;

  constructor(db: DatabaseSync, lockWaitMs: number) {
    this.#db = db;
    this.#lockWaitMs = lockWaitMs;
    this.#statements = prepareStatements(db);
  }

  /** Store.apply. @throws SQLite's errors; nothing of the transaction has happened then. */
  apply(commands: readonly Command[]): OutcomeOf<Command>[] {
    retryWhileBusy(this.#lockWaitMs, () => this.#db.exec('BEGIN IMMEDIATE'));
    try {
      this.#begin();
      const outcomes = commands.map((command) => this.#carryOut(command));
      this.#recordRevision();
      this.#db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      // After some errors SQLite has already rolled back by itself.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  #begin(): void {
    const [revision] = this.#statements.revision.get() as unknown as [bigint];
    this.#revision = revision + 1n;
    this.#changedOrders = 0;
    this.#counts = { pending: 0, shipped: 0, cancelled: 0 };
    this.#now = Date.now();
  }

  /** A transaction that changed no order leaves no trace: the list's ETag stays, nothing is synced. */
  #recordRevision(): void {
    if (this.#changedOrders === 0) return;
    const { pending, shipped, cancelled } = this.#counts;
    this.#statements.setRevision.run(this.#revision, pending, shipped, cancelled);
  }

  #carryOut(command: Command): OutcomeOf<Command> {
    switch (command.type) {
      case 'place':
        return this.#changeOrder(command.order.id, command);
      case 'cancel':
      case 'ship':
        return this.#changeOrder(command.id, command);
      case 'createKey':
        return this.#createKey(command.key);
      case 'createFirstKey': {
        const { key } = command;
        const isFirst = this.#statements.anyKey.get(key.environment) === undefined;
        return isFirst ? this.#createKey(key) : 'unchanged';
      }
      case 'revokeKey': {
        const key = this.#statements.key.get(command.id) as unknown as [bigint | null] | undefined;
        if (key === undefined) return 'key_not_found';
        if (key[0] !== null) return 'unchanged';
        this.#statements.revokeKey.run(this.#now, command.id);
        return 'revoked';
      }
      case 'putPet': {
        const { id, name, tag } = command.pet;
        this.#statements.putPet.run(id, orNull(name), orNull(tag));
        return 'stored';
      }
      case 'importProgress':
        return this.#importProgress(command.source);
      case 'beginImport': {
        const { source, run, from, highestId } = command;
        if (this.#importProgress(source) !== from) return 'out_of_turn';
        this.#statements.beginImport.run(source, run, from, highestId);
        return 'begun';
      }
      case 'importOrders':
        return this.#importOrders(command);
    }
  }

  #createKey({ id, name, environment, digest, createdAt, expiresAt }: ApiKey): 'created' {
    this.#statements.insertKey.run(id, name, environment, digest, createdAt, orNull(expiresAt));
    return 'created';
  }

  #changeOrder(id: OrderId, command: OrderCommand): OrderOutcome {
    const decided = this.#decide(id, command);
    this.#record(decided, command.type === 'cancel' ? command.by : undefined);
    return decided.outcome;
  }

  #decide(id: OrderId, command: OrderCommand): Decided {
    const row = this.#statements.order.get(id) as unknown as Row | undefined;
    const before = row === undefined ? undefined : orderFromRow(row);
    return { before, ...decide(before, command, this.#now) };
  }

  /** Writes what was decided, if it is a change: the order, its event, the counts. */
  #record({ before, outcome, order }: Decided, by: string | undefined): void {
    if (order === undefined) return;
    this.#putOrder(order);
    this.#statements.insertEvent.run(order.id, this.#revision, outcome, this.#now, orNull(by));
    if (before !== undefined) this.#counts[before.status] -= 1;
    this.#counts[order.status] += 1;
    this.#changedOrders += 1;
  }

  #putOrder({ id, status, petId, quantity, shipDate, complete }: Order): void {
    this.#statements.putOrder.run(
      id,
      status,
      orNull(petId),
      orNull(quantity),
      orNull(shipDate),
      complete === undefined ? null : Number(complete),
      this.#revision,
    );
  }

  #importOrders(command: Extract<Command, { type: 'importOrders' }>): OutcomeOf<typeof command> {
    const { source, run, orders, isLast } = command;
    if (this.#statements.importInTurn.get(source, run) === undefined) {
      return { refusal: 'out_of_turn' };
    }
    const [highestId] = this.#statements.highestId.get() as unknown as [bigint];
    let nextId = highestId + 1n;
    const placed = orders.map((order) => ({ ...order, id: order.id ?? nextId++ }));
    if (nextId - 1n > INT64_MAX) return { refusal: 'no_ids_left' };
    // All are decided before the first is written; a file that was checked names no order twice.
    const decisions = placed.map((order) => this.#decide(order.id, { type: 'place', order }));
    const index = decisions.findIndex(({ outcome }) => outcome === 'order_differs');
    if (index !== -1) return { refusal: 'order_differs', index };
    for (const decided of decisions) this.#record(decided, undefined);
    if (isLast) this.#statements.forgetImport.run(source);
    else this.#statements.advanceImport.run(orders.length, source);
    return { placed: decisions.filter(({ outcome }) => outcome === 'placed').length };
  }

  #importProgress(source: string): number {
    const row = this.#statements.importProgress.get(source) as unknown as [bigint] | undefined;
    return row === undefined ? 0 : Number(row[0]);
  }
}

function orNull(value: SQLInputValue | undefined): SQLInputValue {
  return value ?? null;
}

type Statements = Record<keyof typeof SQL, StatementSync>;

function prepareStatements(db: DatabaseSync): Statements {
  const entries = Object.entries(SQL).map(([name, sql]) => {
    const statement = db.prepare(sql);
    statement.setReturnArrays(true);
    return [name, statement];
  });
  return Object.fromEntries(entries) as Statements;
}

const SQL = {
  revision: 'SELECT revision FROM store',
  setRevision: `UPDATE store SET revision = ?, pending = pending + ?, shipped = shipped + ?,
    cancelled = cancelled + ?`,
  order: `SELECT ${ORDER_COLUMNS} FROM orders WHERE id = ?`,
  putOrder: `INSERT INTO orders (${ORDER_COLUMNS}, revision) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, pet_id = excluded.pet_id,
    quantity = excluded.quantity, ship_date = excluded.ship_date, complete = excluded.complete,
    revision = excluded.revision`,
  insertEvent: 'INSERT INTO order_events (order_id, revision, type, at, by) VALUES (?, ?, ?, ?, ?)',
  insertKey: `INSERT INTO api_keys (id, name, environment, digest, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
  anyKey: 'SELECT 1 FROM api_keys WHERE environment = ? LIMIT 1',
  key: 'SELECT revoked_at FROM api_keys WHERE id = ?',
  revokeKey: 'UPDATE api_keys SET revoked_at = ? WHERE id = ?',
  putPet: 'INSERT OR REPLACE INTO pets (id, name, tag) VALUES (?, ?, ?)',
  highestId: `SELECT max((SELECT coalesce(max(id), 0) FROM orders),
    (SELECT coalesce(max(highest_id), 0) FROM imports), 0)`,
  importProgress: 'SELECT placed FROM imports WHERE source = ?',
  beginImport:
    'INSERT OR REPLACE INTO imports (source, run, placed, highest_id) VALUES (?, ?, ?, ?)',
  importInTurn: 'SELECT 1 FROM imports WHERE source = ? AND run = ?',
  advanceImport: 'UPDATE imports SET placed = placed + ? WHERE source = ?',
  forgetImport: 'DELETE FROM imports WHERE source = ?',
} as const;
