import { CODING_SUFFIX } from '../../../protocol/coding-suffix.ts';
import type { CodedEtags } from '../../records/etags.ts';

/** An entity-tag, weak or strong; captures the opaque-tag: RFC 9110, section 8.8.3. */
const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/y;
const SEPARATOR = /[\t ]*(?:,[\t ]*)*/y;

/**
 * Returns whether If-None-Match matches `etag` by weak comparison: RFC 9110, section 13.1.2. A malformed field matches nothing.
 * @param etag strong, with its quotes
 */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return names(ifNoneMatch, (tag) => tag === etag || tag.replace(CODING_SUFFIX, '"') === etag);
}

/** Whether a field has a tag that `isNamed` accepts, or is "*". */
function names(ifNoneMatch: string, isNamed: (tag: string) => boolean): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  let found = false;
  let position = skip(SEPARATOR, ifNoneMatch, 0);
  while (position < ifNoneMatch.length) {
    ENTITY_TAG.lastIndex = position;
    const match = ENTITY_TAG.exec(ifNoneMatch);
    if (match === null) return false;
    found ||= isNamed(match[1]!);
    position = skip(SEPARATOR, ifNoneMatch, ENTITY_TAG.lastIndex);
  }
  return found;
}

/** Returns the first of `etags` that If-None-Match matches; undefined if none does. */
export function matchingEtag(
  etags: CodedEtags,
  ifNoneMatch: string | undefined,
): string | undefined {
  if (ifNoneMatch === undefined) return undefined;
  const { identity, gzip } = etags;
  if (names(ifNoneMatch, (tag) => tag === identity)) return identity;
  // A proxy's suffix can make the other ETag of the service.
  return [gzip, identity].find((each) => matchesEtag(ifNoneMatch, each));
}

/** Replaces the entity-tags that never match by strong comparison: weak ones, and those that a proxy has given the suffix of a coding. */
function withoutWeak(ifMatch: string, instead: string): string {
  const isWeak = (tag: string) => tag.startsWith('W/') || CODING_SUFFIX.test(tag);
  return ifMatch.replaceAll(/(?:W\/)?"[^"]*"/g, (tag) => (isWeak(tag) ? instead : tag));
}

/** Returns whether a field of preconditions is neither "*" nor a list of entity-tags. */
export function isMalformed(field: string): boolean {
  return !/^(?:\*|(?:(?:W\/)?"[^"]*"|[\s,])*)$/.test(field.trim());
}

/** Returns whether If-Match has only entity-tags that are weak or have the suffix of a coding, which never match. */
export function isWeak(ifMatch: string): boolean {
  return ifMatch.includes('"') && /^[\s,]*$/.test(withoutWeak(ifMatch, ''));
}

/** Returns whether If-Match matches `etag` by strong comparison: RFC 9110, section 13.1.1. "*" is not handled. */
export function matchesIfMatch(ifMatch: string, etag: string): boolean {
  const strong = withoutWeak(ifMatch, '""');
  return strong.trim() !== '*' && names(strong, (tag) => tag === etag);
}

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}
