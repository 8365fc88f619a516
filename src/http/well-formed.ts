import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { refuse } from './answers.ts';
import type { ErrorCode } from './errors.ts';
import { MAX_BODY_BYTES, MAX_URL_BYTES } from './limits.ts';

declare module 'node:http' {
  interface IncomingMessage {
    /** Set by Fastify before `rewriteUrl`: the request target as it was sent. */
    originalUrl?: string;
  }
}

/** Turns away what Node's parser let through though it is no proper request. */
export function refuseMalformed(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    // Node loses what follows an Upgrade that nobody wants on the same connection.
    if (request.headers.upgrade !== undefined) reply.raw.shouldKeepAlive = false;
    const problem = malformation(request.raw, request.raw.originalUrl ?? request.raw.url ?? '');
    if (problem === undefined) done();
    // What follows an unread body on the connection cannot be trusted to be a request.
    else refuse(reply, problem, { connection: 'close' });
  });
}

/**
 * What is wrong with a request, or undefined.
 * RFC 9112, section 3.2: no or several Host fields, or a fragment in the request target.
 */
function malformation(request: IncomingMessage, target: string): ErrorCode | undefined {
  if (target.length > MAX_URL_BYTES) return 'uri_too_long';
  if (target.includes('#')) return 'bad_request';
  const hosts = headerCount(request, 'host');
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== '1.0')) return 'bad_request';
  const coding = request.headers['transfer-encoding'];
  // RFC 9112, section 6.1: what is not chunked has no end that we know, and 1.0 knows no coding.
  if (
    coding !== undefined &&
    (coding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0')
  ) {
    return 'bad_request';
  }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return 'body_too_large';
  return undefined;
}

/** How often a header (name in lower case) was sent. Node's own view keeps the first of some. */
export function headerCount(request: IncomingMessage, name: string): number {
  const { rawHeaders } = request;
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const header = rawHeaders[index]!;
    if (header.length === name.length && header.toLowerCase() === name) count += 1;
  }
  return count;
}

/** The path and query of a request target in absolute form (RFC 9112, section 3.2.2); others as they are. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (match === null) return target;
  const rest = match[1]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
