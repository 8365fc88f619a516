import type { Contract } from '../../../contract/contract.ts';
import { inTime } from '../../../http/deadline.ts';
import type { RouteHandler } from '../../../http/exchange.ts';
import type { Store } from '../../../store/store.ts';
import { lagsOf } from '../../../store/webhook-lags.ts';
import { webhookRecord } from './records.ts';
import { isOwn, sendFresh } from './responses.ts';

/** GET /webhooks: all webhooks, the oldest first. */
export function listWebhooks(contract: Contract, store: Store): RouteHandler {
  return contract.validated('listWebhooks', async (exchange) => {
    const found = await inTime(exchange, () => lagsOf(store));
    const webhooks = found.map((each) => webhookRecord(each, isOwn(exchange, each.webhook)));
    sendFresh(exchange, 200, { webhooks });
  });
}
