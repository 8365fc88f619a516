import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { ApiKey } from '../keys/api-key.ts';
import type { Authentication, KeyRing } from '../keys/key-ring.ts';
import { type FailedRequest, hasBody, refuse } from './answers.ts';
import { inTime } from './deadline.ts';
import type { ErrorCode } from './errors.ts';
import { headerCount } from './well-formed.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose request it is; null until that is known, and on public routes. */
    apiKey: ApiKey | null;
  }
  interface FastifyContextConfig {
    /** Needs no key. Everything that does not say so does. */
    public?: true;
  }
}

/** RFC 9110, section 11.4, and RFC 6750, section 2.1: the scheme in any case, one b64token. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/**
 * Lets nobody in without a key: neither to a route that does not call itself public nor to an
 * unknown path below the base path, so that who has no key learns nothing about paths.
 * @param fail answers when it cannot be known whose key it is
 */
export function requireApiKey(
  server: FastifyInstance,
  keyRing: KeyRing,
  basePath: string,
  fail: FailedRequest,
): void {
  const authenticate: onRequestHookHandler = (request, reply, done) => {
    if (isPublic(request, basePath)) {
      done();
      return;
    }
    const { secret, problem } = bearerToken(request);
    if (secret === undefined) {
      refuse(reply, problem);
      return;
    }
    const admit = ({ key, refusal }: Authentication) => {
      if (key === undefined) {
        refuse(reply, refusal);
        return;
      }
      request.apiKey = key;
      done();
    };
    const known = keyRing.remembered(secret);
    if (known !== undefined) {
      admit(known);
      return;
    }
    inTime(request, () => keyRing.authenticate(secret))
      .then(admit)
      .catch((error) => fail(error, request, reply));
  };
  server.decorateRequest('apiKey', null);
  server.addHook('onRequest', authenticate);
  // A body may have taken long to come, and the key may have been revoked meanwhile.
  server.addHook('preValidation', (request, reply, done) => {
    if (hasBody(request.raw)) authenticate.call(server, request, reply, done);
    else done();
  });
}

function isPublic(request: FastifyRequest, basePath: string): boolean {
  if (!request.is404) return request.routeOptions.config.public === true;
  const path = request.raw.url?.split('?', 1)[0] ?? '';
  return path !== basePath && !path.startsWith(`${basePath}/`);
}

type BearerToken =
  | { readonly secret: string; readonly problem?: undefined }
  | { readonly secret?: undefined; readonly problem: ErrorCode };

function bearerToken({ raw, headers }: FastifyRequest): BearerToken {
  const { authorization } = headers;
  if (authorization === undefined || authorization === '') return { problem: 'api_key_missing' };
  const secret = BEARER.exec(authorization)?.[1];
  // Node keeps the first of several; another program before us may have believed the last.
  if (secret === undefined || headerCount(raw, 'authorization') > 1) {
    return { problem: 'api_key_malformed' };
  }
  return { secret };
}
