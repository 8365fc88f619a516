import { inTime } from '../../http/deadline.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { listEtags } from '../../http/list/etags.ts';
import { toJson } from '../../json/to-json.ts';
import type { Store } from '../../store/store.ts';
import type { Contract } from '../contract.ts';
import { sendRead } from './responses.ts';

/** GET /store/summary: how many orders have each status, from counters. */
export function getSummary(contract: Contract, store: Store): RouteHandler {
  return contract.validated('getSummary', async (exchange) => {
    const status = await inTime(exchange, () => store.status());
    const { storeId, revision, orders } = status;
    await sendRead(exchange, listEtags(status).identity, () =>
      toJson({ store: storeId, revision, orders }),
    );
  });
}
