import { toJson } from '../../../../protocol/exact-json.ts';
import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { etagName } from '../../../records/etags.ts';
import type { Store } from '../../../store/store.ts';
import { sendRead } from '../responses.ts';

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
    const { orders, revision, head } = status;
    const state = etagName({ revision, head: head! });
    // The setting can change without the store.
    const etag = canLoseChanges ? `"${state}-can-lose"` : `"${state}"`;
    sendRead(exchange, etag, () => toJson({ revision, head, orders, canLoseChanges }));
  });
}
