import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { ApiKey, Environment } from '../../keys/api-key.ts';
import { Batch } from '../../orders/batch.ts';
import {
  idOf,
  isOrderCommand,
  type OrderCommand,
  type OrderOutcome,
} from '../../orders/lifecycle.ts';
import { differingFields, type Order, type OrderId } from '../../orders/order.ts';
import type { Pet } from '../../pets/pet.ts';
import type { OutcomeOf, StoreCommand } from '../store.ts';
import { expectNotMovedAway } from '../tables.ts';
import { retryWhileBusy } from './connection.ts';
import { findOrders, jsonOf } from './rows.ts';
import { expectVersion } from './schema.ts';
import { prepareStatements, type Statements } from './write-statements.ts';

/** The write half of the SQLite engine. Synchronous, so it runs in a thread of its own. */
export class Writer {
  readonly #db: DatabaseSync;
  readonly #lockWaitMs: number;
  readonly #statements: Statements;

  constructor(db: DatabaseSync, lockWaitMs: number) {
    this.#db = db;
    this.#lockWaitMs = lockWaitMs;
    this.#statements = prepareStatements(db);
  }

  /**
   * See Store.apply.
   * @throws SQLite's errors, with the transaction rolled back
   */
  apply(commands: readonly StoreCommand[]): OutcomeOf<StoreCommand>[] {
    retryWhileBusy(this.#lockWaitMs, () => this.#db.exec('BEGIN IMMEDIATE'));
    try {
      this.#expectUsable(commands);
      const outcomes = commands.every(isOrderCommand)
        ? this.#changeOrders(commands)
        : commands.map((command) => this.#carryOut(command));
      this.#db.exec('COMMIT');
      return outcomes;
    } catch (error) {
      // After some errors SQLite has already rolled back.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * @throws StoreUnavailable if another release has migrated the database, or the store was moved to another database
   */
  #expectUsable(commands: readonly StoreCommand[]): void {
    const [version, movedTo] = this.#statements.use.get() as unknown as [bigint, string | null];
    expectVersion(version);
    if (commands.some(({ type }) => type !== 'takeBack')) expectNotMovedAway(movedTo);
  }

  #carryOut(command: StoreCommand): OutcomeOf<StoreCommand> {
    switch (command.type) {
      case 'place':
      case 'cancel':
      case 'ship':
        return this.#changeOrders([command])[0]!;
      case 'recordEnvironment':
        return this.#recordEnvironment(command.environment);
      case 'moveAway': {
        const { changes } = this.#statements.moveAway.run(command.to, command.revision);
        return changes === 0n ? 'changed' : 'moved';
      }
      case 'takeBack':
        return this.#statements.takeBack.run().changes === 0n ? 'unchanged' : 'taken_back';
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
      case 'recordKeyUse':
        return this.#recordKeyUse(command.ids, command.at);
      case 'putPets':
        return this.#putPets(command.pets);
      case 'importProgress':
        return { placed: this.#placed(command.source), highestId: this.#highestId() };
      case 'beginImport': {
        const { source, run, from, highestId } = command;
        if (this.#placed(source) !== from) return 'out_of_turn';
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

  #recordEnvironment(wanted: Environment): Environment {
    this.#statements.recordEnvironment.run(wanted);
    const [environment] = this.#statements.environment.get() as unknown as [Environment];
    return environment;
  }

  #recordKeyUse(ids: readonly string[], at: number): 'recorded' {
    for (const id of ids) this.#statements.recordKeyUse.run(at, id);
    return 'recorded';
  }

  #putPets(pets: readonly Pet[]): 'stored' {
    for (const { id, name, tag } of pets) {
      this.#statements.putPet.run(id, orNull(name), orNull(tag));
    }
    return 'stored';
  }

  #createKey({ id, name, environment, digest, createdAt, expiresAt }: ApiKey): 'created' {
    this.#statements.insertKey.run(id, name, environment, digest, createdAt, orNull(expiresAt));
    return 'created';
  }

  #changeOrders(commands: readonly OrderCommand[]): OrderOutcome[] {
    const batch = new Batch(findOrders(this.#statements.orders, commands.map(idOf)));
    const outcomes = commands.map((command) => batch.carryOut(command));
    this.#write(batch);
    return outcomes;
  }

  /**
   * Writes the changes of a batch. Without changes nothing is written, so the list's ETag stays the same and no sync
   * is needed.
   */
  #write({ known, changed, events, statusDeltas, now }: Batch): void {
    if (changed.size === 0) return;
    const { setRevision, insertEvents, insertOrder, updateOrder, setStatus } = this.#statements;
    const { pending, shipped, cancelled } = statusDeltas;
    const [revision] = setRevision.get(pending, shipped, cancelled) as unknown as [bigint];
    // Events are inserted before their orders are updated, since `previous` is read from the orders.
    for (const alike of Map.groupBy(events, ({ type, by }) => `${type} ${by}`).values()) {
      const { type, by } = alike[0]!;
      insertEvents.run(revision, type, now, orNull(by), jsonOf(alike.map(({ id }) => id)));
    }
    const restated: Order[] = [];
    for (const order of changed.values()) {
      const before = known.get(order.id);
      if (before === undefined) insertOrder.run(...valuesOf(order, revision));
      else if (isRestated(before, order)) restated.push(order);
      else updateOrder.run(...valuesOf(order, revision));
    }
    for (const [status, alike] of Map.groupBy(restated, (order) => order.status)) {
      setStatus.run(status, revision, jsonOf(alike.map(({ id }) => id)));
    }
  }

  #importOrders(
    command: Extract<StoreCommand, { type: 'importOrders' }>,
  ): OutcomeOf<typeof command> {
    const { source, run, orders } = command;
    if (this.#statements.importInTurn.get(source, run) === undefined) {
      return { refusal: 'out_of_turn' };
    }
    const highestId = this.#highestId();
    const ids = orders.flatMap(({ id }) => id ?? []);
    const batch = new Batch(findOrders(this.#statements.orders, ids));
    const outcome = batch.placeAll(orders, highestId);
    if (outcome.refusal !== undefined) return outcome;
    this.#write(batch);
    this.#statements.advanceImport.run(orders.length, source);
    return outcome;
  }

  #highestId(): OrderId {
    const [highestId] = this.#statements.highestId.get() as unknown as [bigint];
    return highestId;
  }

  /** Returns how many rows of an import have been placed. */
  #placed(source: string): number {
    const row = this.#statements.importProgress.get(source) as unknown as [bigint] | undefined;
    return row === undefined ? 0 : Number(row[0]);
  }
}

/** Returns whether only the status has changed. */
function isRestated(before: Order, after: Order): boolean {
  return differingFields(before, after).every((field) => field === 'status');
}

/** Returns the parameters of insertOrder and updateOrder, in order. */
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
