import type { IncomingMessage } from 'node:http';
import { isAllowed } from '../../domain/api-key.ts';
import { GroupCommit } from '../../store/group-commit.ts';
import { headerCount } from '../connection/well-formed.ts';
import type { ErrorHandler } from './error-handler.ts';
import { type Exchange, inTime } from './exchange.ts';
import type { Authentication, KeyRing } from './key-ring.ts';
import { refuseScope, sendError, sendReply } from './reply.ts';

/** RFC 9110, section 11.4, and RFC 6750, section 2.1: a case-insensitive scheme and one b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** The operations that can be called with the ticket of an invitation. */
const OF_TICKETS = ['getKey', 'redeemInvitation'];

/** Returns the secret of a request that was authenticated. */
export function bearerOf({ headers }: IncomingMessage): string {
  return BEARER.exec(headers.authorization!)![1]!;
}

/**
 * Rejects requests without a valid key, or whose key lacks the route's scope, except on public routes. Unknown paths below
 * the base path need a key too, so that unauthenticated clients cannot probe for paths.
 * @param fail handles errors of the key lookup
 */
export function authentication(keyRing: KeyRing, fail: ErrorHandler) {
  // Lookups are gathered like commands: at most one is in flight, however many keys are not cached.
  const lookUps = new GroupCommit((secrets: readonly string[]) => keyRing.lookUp(secrets));
  /** Calls `next` if the request may proceed; otherwise sends the error response. */
  return (exchange: Exchange, next: (exchange: Exchange) => void) => {
    const { route, request } = exchange;
    if (route.isPublic) return next(exchange);
    const { authorization = '' } = request.headers;
    if (authorization === '') return sendError(exchange, 'api_key_missing');
    const secret = BEARER.exec(authorization)?.[1];
    // Node keeps the first of several Authorization headers; a proxy may have used the last.
    if (secret === undefined || headerCount(request, 'authorization') > 1) {
      return sendError(exchange, 'api_key_malformed');
    }
    const admit = ({ key, refusal, keyId = key?.id }: Authentication) => {
      exchange.keyId = keyId;
      if (key === undefined) return sendError(exchange, refusal);
      if (key.by === 'ticket' && !OF_TICKETS.includes(route.operation)) {
        return sendError(exchange, 'api_key_invalid');
      }
      exchange.apiKey = key;
      const { scope } = route;
      if (scope !== undefined && !isAllowed(key, scope)) {
        return sendReply(exchange, refuseScope(scope));
      }
      next(exchange);
    };
    const known = keyRing.recall(secret);
    if (known !== undefined) return admit(known);
    inTime(exchange, () => lookUps.submit(secret))
      .then(admit)
      .catch((error) => fail(error, exchange));
  };
}
