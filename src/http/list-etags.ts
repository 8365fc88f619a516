import type { Moment } from '../orders/listing.ts';
import type { Coding } from './accept-encoding.ts';
import { hasCurrent } from './conditional.ts';

/** Each coding has its own, since it is other bytes: RFC 9110, section 8.8.3.3. */
export type ListEtags = Readonly<Record<Coding | 'identity', string>>;

/** Made once for all requests that get the same list. */
const made = new WeakMap<Moment, ListEtags>();

/** The ETags of the list at a moment, in every coding. */
export function etagsOf(moment: Moment): ListEtags {
  let etags = made.get(moment);
  if (etags === undefined) {
    const { storeId, revision, mark } = moment;
    const name = `${storeId}-${revision}-${BigInt.asUintN(64, mark).toString(16)}`;
    etags = { identity: `"${name}"`, zstd: `"${name}-zstd"`, gzip: `"${name}-gzip"` };
    made.set(moment, etags);
  }
  return etags;
}

/** The first of `etags` that the client has already. */
export function knownEtag(etags: ListEtags, ifNoneMatch: string | undefined): string | undefined {
  return Object.values(etags).find((etag) => hasCurrent(ifNoneMatch, etag));
}
