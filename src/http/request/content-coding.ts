import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import Negotiator from 'negotiator';
import { ConcurrencyLimit, withTimeout } from '../../concurrency.ts';

/** Minimum size for compression: smaller responses fit in one packet. */
export const MIN_COMPRESSED_BYTES = 1_024;
/** For responses that are compressed for one client: 100 KB take 0.2 ms and become 12 KB. Initialises little memory. */
const OPTIONS = { level: 1, windowBits: 13, memLevel: 6 };
/** Up to this size, compression takes less time than a hand-over to another thread. */
const MAX_BYTES_AT_ONCE = 128 * 1024;
/** Timeout of compression; after it, a response is sent uncompressed. */
export const MAX_COMPRESSION_MS = 1_000;
/** Larger responses that are compressed at the same time, in libuv's thread pool; further ones are sent uncompressed. */
const MAX_CONCURRENT = 8;

const compress = promisify(gzip);
const limit = new ConcurrencyLimit(MAX_CONCURRENT, () => new Error('too many are compressed'));

/** Returns what was made of `source`, or makes it. A failed attempt is dropped, so that the next request retries. */
export function kept<Source, T>(
  made: Pick<Map<Source, Promise<T>>, 'get' | 'delete'> & {
    set(source: Source, making: Promise<T>): unknown;
  },
  source: Source,
  make: (source: Source) => Promise<T>,
): Promise<T> {
  let making = made.get(source);
  if (making === undefined) {
    making = make(source);
    made.set(source, making);
    making.catch(() => made.delete(source));
  }
  return making;
}

/** Returns whether Accept-Encoding prefers gzip: RFC 9110, section 12.5.3; `x-gzip` is an alias (section 8.4.1.3). */
export function acceptsGzip(request: IncomingMessage): boolean {
  const coding = new Negotiator(request).encoding(['gzip', 'x-gzip', 'identity']);
  return coding === 'gzip' || coding === 'x-gzip';
}

/**
 * Resolves to the compressed body; undefined if it is too small, too many are compressed at the moment, or it takes too long.
 * @param ms time limit, capped at MAX_COMPRESSION_MS
 */
export async function gzipped(body: Buffer, ms: number): Promise<Buffer | undefined> {
  if (body.length < MIN_COMPRESSED_BYTES) return undefined;
  if (body.length <= MAX_BYTES_AT_ONCE) return gzipSync(body, OPTIONS);
  const compressed = () => limit.run(() => compress(body, OPTIONS));
  return withTimeout(Math.min(ms, MAX_COMPRESSION_MS), compressed).catch(() => undefined);
}
