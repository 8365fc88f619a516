import { isBatchCommand } from '../../orders/batch.ts';
import type { Action } from '../audit.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { recordAction, recordOperator } from './audit.ts';
import { beginImport, endImport, forgetImport, importOrders, importProgress } from './imports.ts';
import { createFirstKey, createKey, recordKeyUse, revokeKey } from './keys.ts';
import { changeOrders } from './orders.ts';
import { putPets } from './pets.ts';
import type { Session } from './session.ts';
import { limitIds, moveAway, readStatus, recordEnvironment, takeBack } from './store-row.ts';
import { inTransaction } from './transaction.ts';

/**
 * See Store.apply. Synchronous, so it runs in a thread of its own.
 * @param lockWaitMs how long to wait for the write lock of another process
 * @throws StoreUnavailable, and SQLite's own errors
 */
export function applyCommands(
  session: Session,
  commands: readonly StoreCommand[],
  lockWaitMs: number,
): OutcomeOf<StoreCommand>[] {
  const [first, ...rest] = commands;
  const evenIfMoved = commands.every(({ type }) => type === 'takeBack' || type === 'audit');
  const work = () =>
    first?.type === 'audit'
      ? carryOutRecorded(session, first.action, rest)
      : carryOutAll(session, commands);
  return inTransaction(session, work, { lockWaitMs, evenIfMoved });
}

function carryOutAll(
  session: Session,
  commands: readonly StoreCommand[],
): OutcomeOf<StoreCommand>[] {
  return commands.every(isBatchCommand)
    ? changeOrders(session, commands)
    : commands.map((command) => carryOut(session, command));
}

/** Carries out commands as one action of an operator. */
function carryOutRecorded(
  session: Session,
  action: Action,
  commands: readonly StoreCommand[],
): OutcomeOf<StoreCommand>[] {
  const auditId = recordAction(session, action);
  const first = readStatus(session).revision + 1n;
  const outcomes = carryOutAll(session, commands);
  recordOperator(session, { first, last: readStatus(session).revision }, auditId);
  return [auditId, ...outcomes];
}

function carryOut(session: Session, command: StoreCommand): OutcomeOf<StoreCommand> {
  switch (command.type) {
    case 'place':
    case 'cancel':
    case 'ship':
    case 'placeOrder':
      return changeOrders(session, [command])[0]!;
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
