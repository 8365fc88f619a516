import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { listEtags } from '../../http/list/etags.ts';
import { toJson } from '../../json/to-json.ts';
import type { Store } from '../../store/store.ts';
import type { Contract } from '../contract.ts';
import { sendRead } from './responses.ts';

/**
 * GET /store/summary: how many orders have each status, from counters.
 * @param canLoseChanges whether the operators say that a failover can lose acknowledged changes
 */
export function getSummary(
  contract: Contract,
  store: Store,
  canLoseChanges: boolean,
): RouteHandler {
  return contract.validated('getSummary', async (exchange) => {
    const status = await inTime(exchange, () => store.status());
    const { storeId, revision, orders } = status;
    const { identity } = listEtags(status);
    // The setting can change without the store.
    const etag = canLoseChanges ? identity.replace(/"$/, '-can-lose"') : identity;
    sendRead(exchange, etag, () => toJson({ store: storeId, revision, orders, canLoseChanges }));
  });
}
