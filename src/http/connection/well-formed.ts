import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../errors.ts';
import { MAX_BODY_BYTES, MAX_URL_BYTES } from '../limits.ts';

/**
 * What is wrong with a request that Node's parser let through, or undefined: RFC 9112, section 3.2, no or
 * several Host fields, or a fragment in the request target; CONNECT, which is for proxies; another
 * version than 1.1 or 1.0.
 */
export function requestProblem(request: IncomingMessage): Refusal | undefined {
  if (request.httpVersionMajor !== 1) return 'http_version_not_supported';
  if (request.method === 'CONNECT') return 'connect';
  const target = request.url!;
  if (target.length > MAX_URL_BYTES) return 'uri_too_long';
  if (target.includes('#')) return 'url_fragment';
  const hosts = headerCount(request, 'host');
  if (hosts > 1) return 'host_repeated';
  if (hosts === 0 && request.httpVersion !== '1.0') return 'host_missing';
  const coding = request.headers['transfer-encoding'];
  // RFC 9112, section 6.1: what is not chunked has no end that we know, and 1.0 knows no coding.
  if (
    coding !== undefined &&
    (coding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0')
  ) {
    return 'bad_framing';
  }
  // Node does not say what is wrong with the chunks of a request that asks for another protocol.
  if (coding !== undefined && request.headers.upgrade !== undefined) return 'upgrade_with_chunks';
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

/**
 * The path of a request target without its query; of one in absolute form (RFC 9112, section 3.2.2) too,
 * others are as they are.
 */
export function pathOf(target: string): string {
  const origin = target.startsWith('/') ? target : originForm(target);
  const queryAt = origin.indexOf('?');
  return queryAt === -1 ? origin : origin.slice(0, queryAt);
}

/** The query of a request target, without the question mark. */
export function queryOf(target: string): string {
  const queryAt = target.indexOf('?');
  return queryAt === -1 ? '' : target.slice(queryAt + 1);
}

function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]*(.*)$/i.exec(target);
  if (match === null) return target;
  const rest = match[1]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
