import type { IncomingMessage } from 'node:http';
import type { Authentication, KeyRing } from '../keys/key-ring.ts';
import { Batcher } from '../store/batcher.ts';
import { headerCount } from './connection/well-formed.ts';
import { inTime } from './deadline.ts';
import type { ErrorCode } from './errors.ts';
import type { Exchange } from './exchange.ts';
import type { ErrorHandler } from './failures.ts';
import { sendError } from './responses.ts';

/** RFC 9110, section 11.4, and RFC 6750, section 2.1: the scheme in any case, one b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** Calls `next` for a request that may go on, and answers all others. */
export type Authenticate = (exchange: Exchange, next: (exchange: Exchange) => void) => void;

/**
 * Lets nobody in without a key: neither to a route that does not call itself public nor to an
 * unknown path below the base path, so that who has no key learns nothing about paths.
 * @param fail answers when it cannot be known whose key it is
 */
export function authentication(keyRing: KeyRing, fail: ErrorHandler): Authenticate {
  // Look-ups gather as commands do: at most one is under way, however many keys are new.
  const lookUps = new Batcher((secrets: readonly string[]) => keyRing.lookUp(secrets));
  return (exchange, next) => {
    if (exchange.route.isPublic) {
      next(exchange);
      return;
    }
    const { secret, problem } = bearerToken(exchange.request);
    if (secret === undefined) {
      sendError(exchange, problem);
      return;
    }
    const admit = ({ key, refusal, keyId = key?.id }: Authentication) => {
      exchange.keyId = keyId;
      if (key === undefined) {
        sendError(exchange, refusal);
        return;
      }
      exchange.apiKey = key;
      next(exchange);
    };
    const known = keyRing.recall(secret);
    if (known !== undefined) {
      admit(known);
      return;
    }
    inTime(exchange, () => lookUps.submit(secret))
      .then(admit)
      .catch((error) => fail(error, exchange));
  };
}

type BearerToken =
  | { readonly secret: string; readonly problem?: undefined }
  | { readonly secret?: undefined; readonly problem: ErrorCode };

function bearerToken(request: IncomingMessage): BearerToken {
  const { authorization } = request.headers;
  if (authorization === undefined || authorization === '') return { problem: 'api_key_missing' };
  const secret = BEARER.exec(authorization)?.[1];
  // Node keeps the first of several; another program before us may have believed the last.
  if (secret === undefined || headerCount(request, 'authorization') > 1) {
    return { problem: 'api_key_malformed' };
  }
  return { secret };
}
