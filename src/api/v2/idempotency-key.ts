import type { IncomingMessage } from 'node:http';
import { headerCount } from '../../http/connection/well-formed.ts';

/** Visible ASCII, alone or as a string (RFC 8941, section 3.3.3) without escapes. */
const IDEMPOTENCY_KEY =
  /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e][\x21-\x7e]{0,254}))$/;

export const MALFORMED_IDEMPOTENCY_KEY = {
  parameter: 'Idempotency-Key',
  detail: 'must be sent once, as 1 to 255 visible ASCII characters, quoted or not',
};

/** Returns undefined without the header. */
export function idempotencyKeyOf(
  request: IncomingMessage,
): { key: string } | 'malformed' | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined || header === '') return undefined;
  const match = IDEMPOTENCY_KEY.exec(String(header));
  if (match === null || headerCount(request, 'idempotency-key') > 1) return 'malformed';
  return { key: (match[1] ?? match[2])! };
}

/** For operations that do not require the header: an empty one is a mistake of a client that relies on it, and malformed. */
export function optionalIdempotencyKeyOf(
  request: IncomingMessage,
): ReturnType<typeof idempotencyKeyOf> {
  return request.headers['idempotency-key'] === '' ? 'malformed' : idempotencyKeyOf(request);
}
