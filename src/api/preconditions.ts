import type { IncomingMessage } from 'node:http';
import type { OrderId } from '../domain/order.ts';
import { isMalformed, matchesEtag, matchesIfMatch } from '../http/request/conditional.ts';
import { orderEtag } from '../records/etags.ts';
import type { Store } from '../store/store.ts';

/** A revision that no order has. */
export const NO_REVISION = -1n;

/** If-Match and If-None-Match of a request that changes an order: RFC 9110, sections 13.1.1 and 13.1.2. */
type Preconditions =
  /** `ifRevision`: the revision that the order must still have, which the writer compares again in its transaction. */
  | { readonly refusal?: undefined; readonly ifRevision?: bigint }
  | { readonly refusal: 'precondition_failed' };

const NONE: Preconditions = {};

/**
 * Returns undefined, without a promise that would delay the command, if the request has no precondition; otherwise the order is read.
 * A request that would be refused without it is refused for that reason, so the writer decides on an order that is not pending, and
 * evaluates If-Match last (RFC 9110, section 13.2.1).
 */
export function preconditionsOf(
  request: IncomingMessage,
  store: Pick<Store, 'orders'>,
  id: OrderId,
): Promise<Preconditions> | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  return ifMatch === undefined && ifNoneMatch === undefined
    ? undefined
    : readPreconditions(request, store, id);
}

async function readPreconditions(
  request: IncomingMessage,
  store: Pick<Store, 'orders'>,
  id: OrderId,
): Promise<Preconditions> {
  const [order] = await store.orders([id]);
  const failed = failedPrecondition(request, order && orderEtag(order));
  if (failed === 'if-match') return { ifRevision: NO_REVISION };
  if (failed === 'if-none-match' && order!.status === 'pending') {
    return { refusal: 'precondition_failed' };
  }
  return namesState(request) ? { ifRevision: order!.revision } : NONE;
}

/** Whether If-Match names a state, not any. */
export function namesState({ headers }: IncomingMessage): boolean {
  return headers['if-match'] !== undefined && headers['if-match'].trim() !== '*';
}

/**
 * Returns the precondition of a request that fails for a resource, If-Match first. A malformed If-None-Match might name the present
 * state, so it fails, too.
 * @param etag undefined if there is no such resource
 */
export function failedPrecondition(
  request: IncomingMessage,
  etag: string | undefined,
): 'if-match' | 'if-none-match' | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (namesState(request) && (etag === undefined || !matchesIfMatch(ifMatch!, etag))) {
    return 'if-match';
  }
  if (etag === undefined || ifNoneMatch === undefined) return undefined;
  return isMalformed(ifNoneMatch) || matchesEtag(ifNoneMatch, etag) ? 'if-none-match' : undefined;
}

/**
 * Returns whether a request to a resource fails a precondition that names no order: what is sent there has no state of its own that If-Match
 * could name, but "*" names any.
 * @param exists whether the resource can be read
 */
export function failsPrecondition({ headers }: IncomingMessage, exists: boolean): boolean {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch !== undefined && !(exists && ifMatch.trim() === '*')) return true;
  return (
    ifNoneMatch !== undefined &&
    (isMalformed(ifNoneMatch) || (exists && ifNoneMatch.trim() === '*'))
  );
}
