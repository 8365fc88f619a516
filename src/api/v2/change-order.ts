import type { IncomingMessage } from 'node:http';
import type { ChangeCommand, ChangeResult } from '../../domain/bulk.ts';
import { isReference, type OrderId } from '../../domain/order.ts';
import { headerCount } from '../../http/connection/well-formed.ts';
import type { ErrorVariant } from '../../http/errors.ts';
import { isWeak } from '../../http/request/conditional.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { Exchange } from '../../http/request/exchange.ts';
import { sendError, sendErrorWithOrder, sendProblems } from '../../http/request/responses.ts';
import { orderEtag } from '../../records/etags.ts';
import { orderRecordJson } from '../../records/order-json.ts';
import type { Store } from '../../store/store.ts';
import { sendCancelLimitReached } from '../cancel-limit.ts';
import { preconditionsOf } from '../preconditions.ts';
import { type Submit, submitInTime } from '../submit.ts';
import { CANCEL_ALREADY_CANCELLED, refusalOf, SHIP_ALREADY_SHIPPED } from './errors.ts';
import { sendChanged } from './responses.ts';

/** If-Match requires strong comparison (RFC 9110, section 13.1.1), so a weak ETag does not mean that the order has changed. */
const WEAK_ETAG = {
  parameter: 'If-Match',
  detail:
    'is a weak ETag (W/), which never matches. A proxy has weakened it, for example by compressing the response; configure the proxy to keep ETags unchanged',
};

const MALFORMED_REFERENCE = {
  parameter: 'If-Reference-Match',
  detail: 'must be a reference in UTF-8, percent-encoded (RFC 3986)',
};

/** Carries out a command on one order under If-Match and If-Reference-Match, and sends the order or the reason why it was not changed. */
export async function changeOrder(
  exchange: Exchange,
  { store, submit }: { readonly store: Store; readonly submit: Submit },
  command: ChangeCommand,
): Promise<void> {
  const { id } = command;
  const ifMatch = exchange.request.headers['if-match'];
  if (ifMatch !== undefined && isWeak(ifMatch)) {
    sendProblems(exchange, 'parameter_invalid', [WEAK_ETAG]);
    return;
  }
  const ifReference = referenceOf(exchange.request);
  if (ifReference === 'malformed') {
    sendProblems(exchange, 'parameter_invalid', [MALFORMED_REFERENCE]);
    return;
  }
  const reading = preconditionsOf(exchange, store, id);
  const conditions = reading && (await reading);
  if (conditions?.refusal !== undefined) {
    sendError(exchange, conditions.refusal);
    return;
  }
  const outcome = await submitInTime(exchange, submit, {
    ...{ ...command, ifRevision: conditions?.ifRevision },
    ifReference: ifReference?.reference,
  });
  if (typeof outcome === 'object') {
    sendCancelLimitReached(exchange, outcome.retryAt);
    return;
  }
  if (outcome === 'cancelled' || outcome === 'shipped') {
    // An order that is not pending never changes again, so this is the order as the command left it.
    const [order] = await inTime(exchange, () => store.orders([id]));
    sendChanged(exchange, 200, order!);
    return;
  }
  const refusal = refusalOf(command.type, outcome as ChangeResult);
  if (refusal === CANCEL_ALREADY_CANCELLED || refusal === SHIP_ALREADY_SHIPPED) {
    await sendConflict(exchange, store, id, refusal);
  } else sendError(exchange, refusal);
}

/**
 * Sends the error for a change that was already made. The error includes the order if the same API key made the change, so
 * that a client whose response was lost gets the order, whether or not its key may read orders.
 */
async function sendConflict(
  exchange: Exchange,
  store: Store,
  id: OrderId,
  refusal: ErrorVariant,
): Promise<void> {
  const [[order], events] = await inTime(exchange, () =>
    Promise.all([store.orders([id]), store.events(id)]),
  );
  // An order that is not pending never changes again: its last event is the one that ended it.
  const isOwn = events.at(-1)?.by === exchange.apiKey!.id;
  if (order === undefined || !isOwn) sendError(exchange, refusal);
  else {
    const etag = ['etag', orderEtag(order)];
    sendErrorWithOrder(exchange, refusal, orderRecordJson(order), etag);
  }
}

/** Returns the reference that the order must have; undefined without the header. */
function referenceOf(
  request: IncomingMessage,
): { readonly reference: string } | 'malformed' | undefined {
  const header = request.headers['if-reference-match'];
  if (header === undefined) return undefined;
  const isAscii = /^[\x20-\x7e]*$/.test(String(header));
  if (!isAscii || headerCount(request, 'if-reference-match') > 1) return 'malformed';
  try {
    const reference = decodeURIComponent(String(header));
    return isReference(reference) ? { reference } : 'malformed';
  } catch {
    return 'malformed';
  }
}
