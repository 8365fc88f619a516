import type { Contract } from '../../../http/contract/contract.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { RouteHandler } from '../../../http/request/exchange.ts';
import { webhookRecord } from '../../../records/webhook-json.ts';
import type { Store } from '../../../store/store.ts';
import { lagsOf } from '../../../store/webhook-lags.ts';
import { isOwn, sendFresh } from './responses.ts';

/** GET /webhooks: all webhooks, the oldest first. */
export function listWebhooks(contract: Contract, store: Store): RouteHandler {
  return contract.validated('listWebhooks', async (exchange) => {
    const found = await inTime(exchange, () => lagsOf(store));
    const webhooks = found.map((each) => webhookRecord(each, isOwn(exchange, each.webhook)));
    sendFresh(exchange, 200, { webhooks });
  });
}
