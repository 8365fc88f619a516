import type { Contract } from '../../contract/contract.ts';
import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { toJson } from '../../json/to-json.ts';
import type { Store } from '../../store/store.ts';
import { sendRead } from './responses.ts';

/**
 * GET /store/summary: how many orders have each status, from counters.
 * @param canLoseChanges whether a failover can lose acknowledged changes, as configured by the operators
 */
export function getSummary(
  contract: Contract,
  store: Store,
  canLoseChanges: boolean,
): RouteHandler {
  return contract.validated('getSummary', async (exchange) => {
    const status = await inTime(exchange, () => store.status());
    const { storeId, revision, mark, orders } = status;
    const state = `${storeId}-${revision}-${BigInt.asUintN(64, mark).toString(16)}`;
    // The setting can change without the store.
    const etag = canLoseChanges ? `"${state}-can-lose"` : `"${state}"`;
    sendRead(exchange, etag, () => toJson({ store: storeId, revision, orders, canLoseChanges }));
  });
}
