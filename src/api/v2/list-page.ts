import { Refused, refuse } from '../../http/request/reply.ts';
import { type ListPlace, listCursor, parseListCursor } from '../../records/page-cursors.ts';
import { DEFAULT_LIMIT } from './replies.ts';

/**
 * Returns a page of a list that is sorted by time and id, and its `next`.
 * @param list names it in cursors
 * @throws Refused if the cursor is of another list
 */
export function listPage<T extends ListPlace>(
  list: string,
  all: readonly T[],
  {
    limit = DEFAULT_LIMIT,
    cursor,
  }: { readonly limit?: bigint | number; readonly cursor?: string | undefined },
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const after = cursor === undefined ? undefined : parseListCursor(list, cursor);
  if (cursor !== undefined && after === undefined) throw new Refused(refuse('cursor_invalid'));
  const from = after === undefined ? 0 : all.findIndex((each) => isAfter(each, after));
  const rest = from === -1 ? [] : all.slice(from);
  const page = rest.slice(0, Number(limit));
  return { page, next: rest.length > page.length ? listCursor(list, page.at(-1)!) : undefined };
}

function isAfter(one: ListPlace, other: ListPlace): boolean {
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt;
  return one.id > other.id;
}
