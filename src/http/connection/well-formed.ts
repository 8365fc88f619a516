import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Refusal } from '../error-records.ts';
import { MAX_BODY_BYTES, MAX_URL_BYTES } from '../limits.ts';

/** A host and an optional port, RFC 3986, sections 3.2.2 and 3.2.3: only a Host without a port may be empty. */
const HOST =
  /^(?:(?:\[([0-9A-Fa-f:.]+)\]|\[v[0-9A-Fa-f]+\.[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+)(?::\d{0,5})?)?$/i;

function isHost(text: string): boolean {
  const match = HOST.exec(text);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}

/**
 * Returns the problem of a request that Node's parser accepted; undefined if there is none.
 * @param mostKept maximum size of the body for the route; undefined if a body is discarded
 */
export function requestProblem(
  request: IncomingMessage,
  mostKept: number | undefined,
): Refusal | undefined {
  if (request.httpVersionMajor !== 1) return 'http_version_not_supported';
  if (request.method === 'CONNECT') return 'connect';
  const target = request.url!;
  if (target.length > MAX_URL_BYTES) return 'uri_too_long';
  if (target.includes('#')) return 'url_fragment';
  // RFC 9112, section 3.2.
  const hosts = headerCount(request, 'host');
  if (hosts > 1) return 'host_repeated';
  const { host, 'transfer-encoding': coding } = request.headers;
  if (host === undefined ? request.httpVersion !== '1.0' : !isHost(host)) {
    return host === undefined ? 'host_missing' : 'host_malformed';
  }
  if (!target.startsWith('/') && !hasPlainAuthority(target)) return 'url_host';
  // RFC 9112, section 6.1: without chunked the body length is unknown, and HTTP/1.0 has no transfer codings.
  if (
    coding !== undefined &&
    (coding.toLowerCase() !== 'chunked' || request.httpVersion === '1.0')
  ) {
    return 'bad_framing';
  }
  // Node's parser accepts this only if it is lenient.
  if (coding !== undefined && request.headers['content-length'] !== undefined) return 'bad_framing';
  // Node reports no chunk errors for a request with Upgrade.
  if (coding !== undefined && request.headers.upgrade !== undefined) return 'upgrade_with_chunks';
  const most = Math.max(MAX_BODY_BYTES, mostKept ?? 0);
  if (Number(request.headers['content-length'] ?? 0) > most) return 'body_too_large';
  return undefined;
}

/**
 * Returns how many times a header was sent; `headers` keeps only the first value of some.
 * @param name in lower case
 */
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
 * Returns the path of a request target, without the query. The absolute form (RFC 9112, section 3.2.2) is reduced to
 * the origin form; other forms are kept.
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

const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;

/** Whether a target in absolute form names a host, without credentials: RFC 9110, sections 4.2.1 and 4.2.4. Other forms are valid. */
function hasPlainAuthority(target: string): boolean {
  const [, authority] = ABSOLUTE_FORM.exec(target) ?? [];
  return authority === undefined || (authority !== '' && isHost(authority));
}

function originForm(target: string): string {
  const match = ABSOLUTE_FORM.exec(target);
  if (match === null) return target;
  const rest = match[2]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}
