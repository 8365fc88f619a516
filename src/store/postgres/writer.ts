import { Mutex } from '../../concurrency.ts';
import { isBatchCommand } from '../../domain/batch.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { areForMovedStore, carryOut } from '../tables/carry-out.ts';
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
        const isPlaced = typeof outcome === 'object' && 'isReplay' in outcome && 'id' in outcome;
        if (isPlaced) origin.gave(outcome.id);
      }
      // The next session compares what was acknowledged.
      if (!origin.acknowledge(session.written)) session.destroy();
      return outcomes;
    });
}

const ORDER_WRITES = { changeOrders: changeLockedOrders, importOrders, rechain };

/** Commands of a single statement: they block other writers only while it runs, even if this process is slow. */
const SINGLE_STATEMENTS = [
  ...['importOrders', 'putPets', 'recordKeyUse', 'recordListUse'],
  ...['leaseWebhooks', 'releaseWebhooks', 'recordDeliveries'],
];

async function applyCommands(session: Session, commands: readonly StoreCommand[]) {
  if (commands.every(isBatchCommand)) return changeOrders(session, commands);
  const isSingle = commands.length === 1 && SINGLE_STATEMENTS.includes(commands[0]!.type);
  if (isSingle) return carryOut(session, commands, ORDER_WRITES);
  return inTransaction(session, () => carryOut(session, commands, ORDER_WRITES), {
    evenIfMoved: areForMovedStore(commands),
  });
}
