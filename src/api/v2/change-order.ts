import { matchesIfMatch } from '../../http/conditional.ts';
import { inTime } from '../../http/deadline.ts';
import type { Exchange } from '../../http/exchange.ts';
import { sendError } from '../../http/responses.ts';
import type { OrderCommand } from '../../orders/lifecycle.ts';
import type { OrderId } from '../../orders/order.ts';
import type { Store } from '../../store/store.ts';
import { sendCancelLimitReached } from '../cancel-limit.ts';
import type { Submit } from '../submit.ts';
import { orderEtag, sendChanged } from './responses.ts';

/** A revision that no order has. */
const NO_REVISION = -1n;

type ChangeCommand = Exclude<OrderCommand, { type: 'place' }>;

/** Carries out a command on one order under If-Match, and sends the order or the reason why it was not changed. */
export async function changeOrder(
  exchange: Exchange,
  { store, submit }: { readonly store: Store; readonly submit: Submit },
  command: ChangeCommand,
): Promise<void> {
  const { id } = command;
  const ifRevision = await inTime(exchange, () => revisionOf(exchange, store, id));
  const outcome = await inTime(exchange, () => submit({ ...command, ifRevision }));
  if (typeof outcome === 'object') {
    sendCancelLimitReached(exchange, outcome.retryAt);
    return;
  }
  switch (outcome) {
    case 'cancelled':
    case 'shipped': {
      // An order that is not pending never changes again, so this is the order as the command left it.
      const order = await inTime(exchange, () => store.record(id));
      sendChanged(exchange, 200, order!);
      break;
    }
    case 'unchanged':
    case 'order_already_shipped':
      sendError(
        exchange,
        command.type === 'ship' ? 'ship_already_shipped' : 'order_already_shipped',
      );
      break;
    case 'order_already_cancelled':
      sendError(exchange, `${command.type}_already_cancelled`);
      break;
    case 'order_not_found':
    case 'order_changed':
      sendError(exchange, outcome);
      break;
    default:
      throw new Error(`unexpected outcome of ${command.type}: "${outcome}"`);
  }
}

/**
 * Returns the revision that If-Match demands of the order: undefined without the header. The writer compares it again,
 * in its transaction.
 */
async function revisionOf(
  { request }: Exchange,
  store: Store,
  id: OrderId,
): Promise<bigint | undefined> {
  const ifMatch = request.headers['if-match'];
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const order = await store.record(id);
  if (order === undefined || !matchesIfMatch(ifMatch, orderEtag(order))) return NO_REVISION;
  return order.revision;
}
