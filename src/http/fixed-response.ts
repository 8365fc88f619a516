import { createHash } from 'node:crypto';
import { matchesEtag } from './conditional.ts';
import type { HeaderList } from './errors.ts';
import type { Exchange } from './exchange.ts';
import { send, sendEmpty } from './responses.ts';

/** A body that stays the same while the process runs. */
export interface FixedBody {
  readonly bytes: Buffer;
  readonly etag: string;
}

export function fixedBody(text: string): FixedBody {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  return { bytes: Buffer.from(text), etag };
}

/** Sends the body, or 304 if the client has it. Caches must revalidate it: another release may have another one. */
export function sendFixed(
  exchange: Exchange,
  { bytes, etag }: FixedBody,
  contentType: string,
  headers: HeaderList = [],
): void {
  const all = ['etag', etag, 'cache-control', 'no-cache', ...headers];
  if (matchesEtag(exchange.request.headers['if-none-match'], etag)) sendEmpty(exchange, 304, all);
  else send(exchange, 200, [...all, 'content-type', contentType], bytes);
}
