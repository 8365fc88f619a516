import type { Moment } from '../../listing/listing.ts';
import { matchesEtag } from '../conditional.ts';

/** One entity-tag per content coding: RFC 9110, section 8.8.3.3. */
export interface ListEtags {
  readonly identity: string;
  readonly gzip: string;
}

export function listEtags({ storeId, revision, mark }: Moment): ListEtags {
  const name = `${storeId}-${revision}-${BigInt.asUintN(64, mark).toString(16)}`;
  return { identity: `"${name}"`, gzip: `"${name}-gzip"` };
}

/** Returns the first of `etags` that If-None-Match matches; undefined if none does. */
export function matchingEtag(
  etags: ListEtags,
  ifNoneMatch: string | undefined,
): string | undefined {
  return Object.values(etags).find((etag) => matchesEtag(ifNoneMatch, etag));
}
