import { hash } from 'node:crypto';
import { type OrderId, parseInt64 } from '../domain/order.ts';
import type { Webhook } from '../domain/webhook.ts';
import type { ActivityCursor, ActivityQuery } from '../store/activity.ts';
import type { Sort } from '../store/order-filter.ts';
import type { PagePlace, PageQuery, SortKey } from '../store/pages.ts';

/** The query that a page cursor belongs to. */
type Walk = Pick<PageQuery, 'filter' | 'sort' | 'isDescending'>;

/** Returns the cursor of the page after a place. It depends only on filters and order. */
export function pageCursor(walk: Walk, { sortKey, id }: PagePlace): string {
  return encodeCursor([digestOf(walk), ...[...sortKey, id].map(String)]);
}

/** Returns the place after which the page of a cursor begins; undefined if the cursor belongs to other filters. */
export function parsePageCursor(cursor: string, walk: Walk): PagePlace | undefined {
  const [, ...texts] = decodeCursor(cursor) ?? [];
  const id = parseInt64(texts.pop() ?? '');
  const sortKey: readonly (bigint | string | undefined)[] =
    walk.sort === 'reference' ? texts : texts.map(parseInt64);
  if (id === undefined || sortKey.includes(undefined)) return undefined;
  if (sortKey.length !== KEY_LENGTHS[walk.sort ?? 'id']) return undefined;
  const after = { sortKey: sortKey as SortKey, id: id as OrderId };
  return pageCursor(walk, after) === cursor ? after : undefined;
}

/** Number of values of a sort key. */
const KEY_LENGTHS: Readonly<Record<Sort, number>> = {
  ...{ id: 0, placedAt: 1, updatedAt: 2, shipDate: 1, reference: 1 },
};

function digestOf({ filter, sort, isDescending }: Walk): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]) => [name, String(value)]);
  return digest(JSON.stringify([texts, sort, isDescending]));
}

/** Returns the cursor with which a count of these periods, and of this key, continues. */
export function activityCursor(position: ActivityCursor, counted: ActivityQuery): string {
  const { head, upTo, at, revision, orderId } = position;
  const numbers = [upTo, at, revision, orderId].map(String);
  const { boundaries, by } = counted;
  const query = by === undefined ? boundaries : [...boundaries, by];
  return encodeCursor([digest(query.join()), head, ...numbers]);
}

/** Returns the position at which a count continues; undefined if the cursor belongs to another count. */
export function parseActivityCursor(
  cursor: string,
  counted: ActivityQuery,
): ActivityCursor | undefined {
  const [, head, ...numbers] = decodeCursor(cursor) ?? [];
  const [upTo, at, revision, orderId] = numbers.map(parseInt64);
  if (head === undefined || upTo === undefined || at === undefined) return undefined;
  if (revision === undefined || orderId === undefined) return undefined;
  const position = { head, upTo, at: Number(at), revision, orderId: orderId as OrderId };
  return activityCursor(position, counted) === cursor ? position : undefined;
}

/** What a page of webhooks or API keys ends with; they are listed by time and id. */
export type ListPlace = Pick<Webhook, 'createdAt' | 'id'>;

/** Returns the cursor of the page of a list after a place. @param list "webhooks", or "keys" in a state */
export function listCursor(list: string, { createdAt, id }: ListPlace): string {
  return encodeCursor([list, String(createdAt), id]);
}

/** Returns the place after which a page of a list begins; undefined for any other text. */
export function parseListCursor(list: string, cursor: string): ListPlace | undefined {
  const [, time = '', id] = decodeCursor(cursor) ?? [];
  const createdAt = parseInt64(time);
  if (createdAt === undefined || id === undefined) return undefined;
  const place = { createdAt: Number(createdAt), id };
  return listCursor(list, place) === cursor ? place : undefined;
}

/** Returns the cursor of the events of an order from an index on. */
export function eventsCursor(id: OrderId, from: number): string {
  return encodeCursor(['events', String(id), String(from)]);
}

/** Returns the index at which a page of the events of an order begins; undefined for any other text. */
export function parseEventsCursor(cursor: string, id: OrderId): number | undefined {
  const from = Number(decodeCursor(cursor)?.at(-1));
  return eventsCursor(id, from) === cursor ? from : undefined;
}

/** Identifies the query of a cursor. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 12);
}

/** Format of the cursors; a later release can still read those of an earlier one. */
const FORMAT = 1;

/** Encodes the parts of a cursor, without padding. */
function encodeCursor(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify([FORMAT, ...parts])).toString('base64url');
}

/** Decodes the parts of a cursor; undefined without parts. Its users compare the cursor with the one that they would make. */
function decodeCursor(cursor: string): readonly string[] | undefined {
  try {
    const [, ...parts] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return parts.every((part: unknown) => typeof part === 'string') ? parts : undefined;
  } catch {
    return undefined;
  }
}
