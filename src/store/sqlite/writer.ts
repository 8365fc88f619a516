import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ApiKey } from '../../keys/api-key.ts';
import { Batch } from '../../orders/batch.ts';
import {
  idOf,
  isOrderCommand,
  type OrderCommand,
  type OrderOutcome,
} from '../../orders/lifecycle.ts';
import type { Order, OrderId } from '../../orders/order.ts';
import type { Command, OutcomeOf } from '../store.ts';
import { retryWhileBusy } from './connection.ts';
import { ORDER_COLUMNS, ordersFrom } from './rows.ts';

/** The write half of the SQLite engine, synchronous: it lives in a thread of its own. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #lockWaitMs: number;
  readonly #statements: Statements;

  constructor(db: DatabaseSync, lockWaitMs: number) {
    this.#db = db;
    this.#lockWaitMs = lockWaitMs;
    this.#statements = prepareStatements(db);
  }

  /** Store.apply. @throws SQLite's errors; nothing of the transaction has happened then. */
  apply(commands: readonly Command[]): OutcomeOf<Command>[] {
    retryWhileBusy(this.#lockWaitMs, () => this.#db.exec('BEGIN IMMEDIATE'));
    try {
      const outcomes = commands.every(isOrderCommand)
        ? this.#changeOrders(commands)
        : commands.map((command) => this.#carryOut(command));
      this.#db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      // After some errors SQLite has already rolled back by itself.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  #carryOut(command: Command): OutcomeOf<Command> {
    switch (command.type) {
      case 'place':
      case 'cancel':
      case 'ship':
        return this.#changeOrders([command])[0]!;
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
        this.#statements.revokeKey.run(Date.now(), command.id);
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
      case 'endImport': {
        const { changes } = this.#statements.endImport.run(command.source, command.run);
        return changes === 0n ? 'out_of_turn' : 'ended';
      }
    }
  }

  #createKey({ id, name, environment, digest, createdAt, expiresAt }: ApiKey): 'created' {
    this.#statements.insertKey.run(id, name, environment, digest, createdAt, orNull(expiresAt));
    return 'created';
  }

  #changeOrders(commands: readonly OrderCommand[]): OrderOutcome[] {
    const batch = new Batch(this.#find(commands.map(idOf)));
    const outcomes = commands.map((command) => batch.carryOut(command));
    this.#write(batch);
    return outcomes;
  }

  #find(ids: readonly OrderId[]): Order[] {
    return ordersFrom(this.#statements.order, ids);
  }

  /** A batch that changed no order leaves no trace: the list's ETag stays, nothing is synced. */
  #write({ changed, placed, happenings, growth, now }: Batch): void {
    if (changed.size === 0) return;
    const [before] = this.#statements.revision.get() as unknown as [bigint];
    const revision = before + 1n;
    const { pending, shipped, cancelled } = growth;
    this.#statements.setRevision.run(revision, pending, shipped, cancelled);
    const { insertOrder, updateOrder } = this.#statements;
    for (const order of changed.values()) {
      const isNew = placed.has(order.id);
      (isNew ? insertOrder : updateOrder).run(...valuesOf(order, revision));
    }
    for (const { id, type, by } of happenings) {
      this.#statements.insertEvent.run(id, revision, type, now, orNull(by));
    }
  }

  #importOrders(command: Extract<Command, { type: 'importOrders' }>): OutcomeOf<typeof command> {
    const { source, run, orders } = command;
    if (this.#statements.importInTurn.get(source, run) === undefined) {
      return { refusal: 'out_of_turn' };
    }
    const [highestId] = this.#statements.highestId.get() as unknown as [bigint];
    const batch = new Batch(this.#find(orders.flatMap(({ id }) => id ?? [])));
    const outcome = batch.placeAll(orders, highestId);
    if (outcome.refusal !== undefined) return outcome;
    this.#write(batch);
    this.#statements.advanceImport.run(orders.length, source);
    return outcome;
  }

  #importProgress(source: string): number {
    const row = this.#statements.importProgress.get(source) as unknown as [bigint] | undefined;
    return row === undefined ? 0 : Number(row[0]);
  }
}

/** In the order of insertOrder and updateOrder. */
function valuesOf(order: Order, revision: bigint): SQLInputValue[] {
  const { id, status, petId, quantity, shipDate, complete } = order;
  return [
    status,
    orNull(petId),
    orNull(quantity),
    orNull(shipDate),
    complete === undefined ? null : Number(complete),
    revision,
    id,
  ];
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
  insertOrder: `INSERT INTO orders (status, pet_id, quantity, ship_date, complete, revision, id)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  updateOrder: `UPDATE orders SET status = ?, pet_id = ?, quantity = ?, ship_date = ?, complete = ?,
    revision = ? WHERE id = ?`,
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
  endImport: 'DELETE FROM imports WHERE source = ? AND run = ?',
} as const;
