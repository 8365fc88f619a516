import type { IncomingMessage } from 'node:http';
import { NO_REVISION } from '../domain/lifecycle.ts';
import type { OrderId } from '../domain/order.ts';
import { isMalformed, isWeak, matchesEtag, matchesIfMatch } from '../http/request/conditional.ts';
import { invalid, Refused, refuse } from '../http/request/reply.ts';
import { orderEtag } from '../records/etags.ts';
import type { Store } from '../store/store.ts';

/**
 * Evaluates If-Match and If-None-Match of a request that changes an order (RFC 9110, sections 13.1.1 and 13.1.2), for which the order is read.
 * Returns the revision that the order must have, which the writer compares again in its transaction; undefined for any. Without preconditions,
 * that is no promise, which would delay the command. If-Match is evaluated last (RFC 9110, section 13.2.1): a request that would be refused without
 * it is refused for that reason, so if the order is not pending, the writer decides.
 * @throws Refused if the order has the state in If-None-Match
 */
export function requiredRevision(
  request: IncomingMessage,
  store: Pick<Store, 'orders'>,
  id: OrderId,
): Promise<bigint | undefined> | undefined {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return store.orders([id]).then(([order]) => {
    const failed = failedPrecondition(request, order && orderEtag(order));
    if (failed === 'if-match') return NO_REVISION;
    if (failed === 'if-none-match' && order!.status === 'pending') {
      throw new Refused(refuse('precondition_failed'));
    }
    return namesState(request) ? order!.revision : undefined;
  });
}

/** If-Match requires strong comparison (RFC 9110, section 13.1.1), so it fails for a weak ETag even if the order has not changed. */
export const WEAK_ETAG =
  'is a weak ETag (W/), or has the suffix of a compression (-gzip), and never matches. A proxy has changed it, for example by compressing the response; configure the proxy to keep ETags unchanged, or, for an order, send its field etag';

/** @throws Refused if If-Match has no ETag that can match */
export function expectStrong({ headers }: IncomingMessage): void {
  const ifMatch = headers['if-match'];
  if (ifMatch === undefined) return;
  const detail = isMalformed(ifMatch)
    ? 'must be an ETag with its quotes, or *'
    : isWeak(ifMatch) && WEAK_ETAG;
  if (detail) throw new Refused(invalid('parameter_invalid', [{ parameter: 'If-Match', detail }]));
}

/** Whether If-Match names a state; "*" names any. */
function namesState({ headers }: IncomingMessage): boolean {
  return headers['if-match'] !== undefined && headers['if-match'].trim() !== '*';
}

/**
 * Returns the precondition of a request that fails for a resource, If-Match first. A malformed If-None-Match fails too, since it might name the
 * current state.
 * @param etag undefined if there is no such resource
 */
function failedPrecondition(
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

/** A tag that no resource has. */
const NO_TAG = '';

/**
 * Evaluates If-Match and If-None-Match of a request that changes a resource which has a tag (RFC 9110, sections 13.1.1 and 13.1.2). Returns the
 * tag that the resource must still have when it is changed; undefined for any.
 * @param changed the refusal if If-Match names another state
 * @param isRepeatable then a refusal is returned with the tag: the first request may have changed the resource, so the store recognizes a
 *   repetition before it compares tags
 * @throws Refused if a precondition does not hold, or If-Match is weak
 */
export function tagConditions<Changed extends 'webhook_changed' | 'key_changed'>(
  request: IncomingMessage,
  tag: string,
  changed: Changed,
  isRepeatable = false,
): {
  readonly refusal?: Changed | 'precondition_failed';
  readonly ifTag: string | undefined;
} {
  expectStrong(request);
  const failed = failedPrecondition(request, `"${tag}"`);
  if (failed !== undefined) {
    const refusal = failed === 'if-match' ? changed : 'precondition_failed';
    if (isRepeatable) return { refusal, ifTag: NO_TAG };
    throw new Refused(refuse(refusal));
  }
  const isConditional = namesState(request) || request.headers['if-none-match'] !== undefined;
  return { ifTag: isConditional ? tag : undefined };
}

/**
 * Returns whether a request to a resource without ETags fails a precondition: If-Match can only be met by "*".
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
