import type { IncomingMessage } from 'node:http';
import { headerCount } from '../../../http/connection/well-formed.ts';
import { invalid, Refused } from '../../../http/request/reply.ts';

/** Visible ASCII, alone or as a string (RFC 8941, section 3.3.3) without escapes. */
const IDEMPOTENCY_KEY =
  /^(?:"([\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x7e][\x21-\x7e]{0,254}))$/;

const MALFORMED = {
  parameter: 'Idempotency-Key',
  detail: 'must be sent once, as 1 to 255 visible ASCII characters, quoted or not',
};

/** Returns the key of a request; undefined without the header, or with an empty one. @throws Refused if it is malformed */
export function idempotencyKeyOf(request: IncomingMessage): string | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined || header === '') return undefined;
  const match = IDEMPOTENCY_KEY.exec(String(header));
  if (match === null || headerCount(request, 'idempotency-key') > 1) {
    throw new Refused(invalid('parameter_invalid', [MALFORMED]));
  }
  return match[1] ?? match[2];
}

/** For operations that do not require the header: an empty one is a mistake of a client that relies on it. @throws Refused */
export function optionalIdempotencyKeyOf(request: IncomingMessage): string | undefined {
  if (request.headers['idempotency-key'] !== '') return idempotencyKeyOf(request);
  throw new Refused(invalid('parameter_invalid', [MALFORMED]));
}
