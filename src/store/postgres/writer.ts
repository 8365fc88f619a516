import { Mutex } from '../../concurrency.ts';
import { isBatchCommand } from '../../domain/batch.ts';
import type { OrderId } from '../../domain/order.ts';
import type { CommandOf, OutcomeOf, StoreCommand } from '../commands.ts';
import { areForMovedStore, carryOut, carryOutOne, type OrderWrites } from '../tables/carry-out.ts';
import { rechain } from './database/compute-heads.ts';
import type { Connection } from './database/connection.ts';
import type { Origin } from './database/origin.ts';
import type { Session } from './database/session.ts';
import { inTransaction, waitForStandby } from './database/transaction.ts';
import { changeLockedOrders, changeOrders, importOrders } from './orders.ts';

/** Returns the write half of the PostgreSQL engine: see Store.apply. Calls are serialized, since a connection has one transaction at a time. */
export function writerOn(connection: Connection, origin: Origin) {
  const mutex = new Mutex();
  /** The session for which `waitForStandby` has succeeded. */
  let confirmed: Session | undefined;
  return (commands: readonly StoreCommand[]): Promise<OutcomeOf<StoreCommand>[]> =>
    mutex.run(async () => {
      const session = await connection.session();
      session.highestGiven = origin.highestGiven;
      // After a restart, and after the end of a session that waited for a standby, a primary also shows commits that no standby has: a repeated
      // cancel would be answered as one that took effect before. So a commit in the session succeeds first.
      if (session !== confirmed) await waitForStandby(session);
      confirmed = session;
      const outcomes = await applyCommands(session, commands);
      for (const outcome of outcomes) {
        if (isPlaced(outcome)) origin.gave(outcome.id);
      }
      // The next session compares what was acknowledged.
      if (!origin.acknowledge(session.written)) session.destroy();
      return outcomes;
    });
}

function isPlaced(
  outcome: OutcomeOf<StoreCommand>,
): outcome is Extract<OutcomeOf<CommandOf<'placeOrder'>>, { id: OrderId }> {
  return typeof outcome === 'object' && 'isReplay' in outcome && 'id' in outcome;
}

/** Commands of a single statement: they block other writers only while it runs, even if this process is slow. */
const SINGLE_STATEMENTS = [
  ...['importOrders', 'putPets', 'recordKeyUse', 'recordListUse'],
  ...['leaseWebhooks', 'releaseWebhooks', 'recordDeliveries'],
];

async function applyCommands(session: Session, commands: readonly StoreCommand[]) {
  if (commands.every(isBatchCommand)) return changeOrders(session, commands);
  const orders: OrderWrites = {
    changeOrders: (each) => changeLockedOrders(session, each),
    importOrders: (command) => importOrders(session, command),
    rechain: (from) => rechain(session, from),
  };
  if (commands.length === 1 && SINGLE_STATEMENTS.includes(commands[0]!.type)) {
    return [await carryOutOne(session, commands[0]!, orders)];
  }
  return inTransaction(session, () => carryOut(session, commands, orders), {
    evenIfMoved: areForMovedStore(commands),
  });
}
