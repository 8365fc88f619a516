import { Mutex } from '../../concurrency/mutex.ts';
import { isBatchCommand } from '../../orders/batch.ts';
import type { OrderId } from '../../orders/order.ts';
import type { Action } from '../audit.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { recordAction, recordOperator } from './audit.ts';
import type { Connection } from './connection.ts';
import { beginImport, endImport, forgetImport, importOrders, importProgress } from './imports.ts';
import { createFirstKey, createKey, recordKeyUse, revokeKey } from './keys.ts';
import { changeLockedOrders, changeOrders } from './orders.ts';
import { putPets } from './pets.ts';
import type { Session } from './session.ts';
import { limitIds, moveAway, readRevision, recordEnvironment, takeBack } from './store-row.ts';
import { inTransaction } from './transaction.ts';

/** The write half of the PostgreSQL engine. */
export class Writer {
  readonly #connection: Connection;
  readonly #mutex = new Mutex();
  readonly #onPlaced: (id: OrderId) => void;

  /** @param onPlaced called with the id of each order that was placed under an idempotency key */
  constructor(connection: Connection, onPlaced: (id: OrderId) => void) {
    this.#connection = connection;
    this.#onPlaced = onPlaced;
  }

  /** See Store.apply. Calls are serialized, since a connection has one transaction at a time. */
  apply(commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> {
    return this.#mutex.run(async () => {
      const outcomes = await applyCommands(await this.#connection.session(), commands);
      for (const outcome of outcomes) {
        if (typeof outcome === 'object' && 'id' in outcome) this.#onPlaced(outcome.id);
      }
      return outcomes;
    });
  }

  /** Waits for pending calls, then closes the connection. */
  async close(): Promise<void> {
    await this.#mutex.idle();
    await this.#connection.close();
  }
}

/** Commands that are one statement, which blocks other writers no longer than it takes, however slow the command is. */
const SINGLE_STATEMENTS = ['importOrders', 'putPets', 'recordKeyUse'];

async function applyCommands(
  session: Session,
  commands: readonly StoreCommand[],
): Promise<OutcomeOf<StoreCommand>[]> {
  if (commands.every(isBatchCommand)) return changeOrders(session, commands);
  if (commands.length === 1 && SINGLE_STATEMENTS.includes(commands[0]!.type)) {
    return [await carryOut(session, commands[0]!)];
  }
  const [first, ...rest] = commands;
  const evenIfMoved = commands.every(({ type }) => type === 'takeBack' || type === 'audit');
  const work = () =>
    first?.type === 'audit'
      ? carryOutRecorded(session, first.action, rest)
      : carryOutAll(session, commands);
  return inTransaction(session, work, { evenIfMoved });
}

/** Carries out commands in a transaction that excludes all other writers. */
async function carryOutAll(
  session: Session,
  commands: readonly StoreCommand[],
): Promise<OutcomeOf<StoreCommand>[]> {
  if (commands.every(isBatchCommand)) return changeLockedOrders(session, commands);
  const outcomes: OutcomeOf<StoreCommand>[] = [];
  for (const command of commands) outcomes.push(await carryOut(session, command));
  return outcomes;
}

/** Carries out commands as one action of an operator. */
async function carryOutRecorded(
  session: Session,
  action: Action,
  commands: readonly StoreCommand[],
): Promise<OutcomeOf<StoreCommand>[]> {
  const auditId = await recordAction(session, action);
  const first = (await readRevision(session)) + 1n;
  const outcomes = await carryOutAll(session, commands);
  await recordOperator(session, { first, last: await readRevision(session) }, auditId);
  return [auditId, ...outcomes];
}

async function carryOut(session: Session, command: StoreCommand): Promise<OutcomeOf<StoreCommand>> {
  switch (command.type) {
    case 'place':
    case 'cancel':
    case 'ship':
    case 'placeOrder':
      return (await changeLockedOrders(session, [command]))[0]!;
    case 'recordEnvironment':
      return recordEnvironment(session, command.environment);
    case 'moveAway':
      return moveAway(session, command.to, command.revision);
    case 'takeBack':
      return takeBack(session);
    case 'audit':
      return recordAction(session, command.action);
    case 'limitIds':
      return limitIds(session, command.last);
    case 'createKey':
      return createKey(session, command.key);
    case 'createFirstKey':
      return createFirstKey(session, command.key);
    case 'revokeKey':
      return revokeKey(session, command.id);
    case 'recordKeyUse':
      return recordKeyUse(session, command);
    case 'putPets':
      return putPets(session, command.pets);
    case 'importProgress':
      return importProgress(session, command);
    case 'beginImport':
      return beginImport(session, command);
    case 'importOrders':
      return importOrders(session, command);
    case 'endImport':
      return endImport(session, command);
    case 'forgetImport':
      return forgetImport(session, command);
  }
}
