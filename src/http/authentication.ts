import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiKey } from '../keys/api-key.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { inTime } from './deadline.ts';
import { HttpError } from './errors.ts';
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
 */
export function requireApiKey(server: FastifyInstance, keyRing: KeyRing, basePath: string): void {
  server.decorateRequest('apiKey', null);
  server.addHook('onRequest', async (request, reply) => {
    if (isPublic(request, basePath)) return;
    const secret = bearerToken(request);
    const { key, refusal } = await inTime(reply, () => keyRing.authenticate(secret));
    if (refusal !== undefined) throw new HttpError(refusal);
    request.apiKey = key;
  });
}

function isPublic(request: FastifyRequest, basePath: string): boolean {
  if (!request.is404) return request.routeOptions.config.public === true;
  const path = request.raw.url?.split('?', 1)[0] ?? '';
  return path !== basePath && !path.startsWith(`${basePath}/`);
}

function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (header === undefined || header === '') throw new HttpError('api_key_missing');
  // Node keeps the first of several; another program before us may have believed the last.
  if (headerCount(request.raw, 'authorization') > 1) throw new HttpError('api_key_malformed');
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw new HttpError('api_key_malformed');
  return token;
}
