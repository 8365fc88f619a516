import { createHash } from 'node:crypto';
import { matchesEtag } from './conditional.ts';
import type { HeaderList } from './errors.ts';
import { send, sendEmpty } from './responses.ts';
import type { Router } from './router.ts';

/** A file that stays the same while the process runs. */
export interface FixedFile {
  readonly path: string;
  /** Its Content-Type. */
  readonly type: string;
  /** Makes the text, at the first request. */
  readonly make: () => string;
}

/** Adds a public route for a file. Caches must revalidate it: another release may have another one. */
export function addFixed(router: Router, file: FixedFile, headers: HeaderList = []): void {
  let made: { readonly bytes: Buffer; readonly etag: string } | undefined;
  router.addPublic(file.path, (exchange) => {
    made ??= bodyOf(file.make());
    const { bytes, etag } = made;
    const all = ['etag', etag, 'cache-control', 'no-cache', ...headers];
    const known = exchange.request.headers['if-none-match'];
    if (matchesEtag(known, etag)) sendEmpty(exchange, 304, all);
    else send(exchange, 200, [...all, 'content-type', file.type], bytes);
  });
}

function bodyOf(text: string) {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  return { bytes: Buffer.from(text), etag };
}
