import type { Moment } from '../../listing/listing.ts';
import { matchesEtag } from '../conditional.ts';

/** One entity-tag per content coding: RFC 9110, section 8.8.3.3. */
export interface CodedEtags {
  readonly identity: string;
  readonly gzip: string;
}

/** @param name identifies a state */
export function codedEtags(name: string): CodedEtags {
  return { identity: `"${name}"`, gzip: `"${name}-gzip"` };
}

export function listEtags({ storeId, revision, mark }: Moment): CodedEtags {
  return codedEtags(`${storeId}-${revision}-${BigInt.asUintN(64, mark).toString(16)}`);
}

/** Returns the first of `etags` that If-None-Match matches; undefined if none does. */
export function matchingEtag(
  etags: CodedEtags,
  ifNoneMatch: string | undefined,
): string | undefined {
  return Object.values(etags).find((etag) => matchesEtag(ifNoneMatch, etag));
}
