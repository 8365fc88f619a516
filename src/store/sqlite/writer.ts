import { isBatchCommand } from '../../orders/batch.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { beginImport, endImport, forgetImport, importOrders, importProgress } from './imports.ts';
import { createFirstKey, createKey, recordKeyUse, revokeKey } from './keys.ts';
import { changeOrders } from './orders.ts';
import { putPets } from './pets.ts';
import type { Session } from './session.ts';
import { limitIds, moveAway, recordEnvironment, takeBack } from './store-row.ts';
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
  const carryOutAll = () =>
    commands.every(isBatchCommand)
      ? changeOrders(session, commands)
      : commands.map((command) => carryOut(session, command));
  const evenIfMoved = commands.every(({ type }) => type === 'takeBack');
  return inTransaction(session, carryOutAll, { lockWaitMs, evenIfMoved });
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
