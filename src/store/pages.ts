import type { Position } from '../../protocol/history.ts';
import { INT64_MAX, type OrderId, type OrderRecord, type OrderStatus } from '../domain/order.ts';

/** Conditions that all must hold; absent ones hold for every order. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  readonly reference?: string | undefined;
  /** The characters that the reference begins with. */
  readonly referencePrefix?: string | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly shipDateFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly shipDateBefore?: number | undefined;
  /** Milliseconds since the epoch, inclusive. */
  readonly placedFrom?: number | undefined;
  /** Milliseconds since the epoch, exclusive. */
  readonly placedBefore?: number | undefined;
  /** Of the latest change, in milliseconds since the epoch, inclusive. */
  readonly updatedFrom?: number | undefined;
  /** Of the latest change, in milliseconds since the epoch, exclusive. */
  readonly updatedBefore?: number | undefined;
}

/**
 * What orders can be sorted by, each with an index. A walk by reference has the orders of `referencePrefix`, which it requires. Times are read from
 * the events, so no change writes to an index of them.
 */
export const SORTS = ['id', 'placedAt', 'updatedAt', 'shipDate', 'reference'] as const;
export type Sort = (typeof SORTS)[number];

/** What orders are sorted by before their ids: nothing, a time in milliseconds since the epoch and a revision, or a reference. */
export type SortKey = readonly (bigint | string)[];

/** A place in the sort order; no order needs to be there. */
export interface PagePlace {
  readonly sortKey: SortKey;
  readonly id: OrderId;
}

/** The ship date by which the index sorts an order without one. Such orders come last, in descending order too. */
export const UNDATED = INT64_MAX;

/** Whether a walk has two parts: orders without a ship date come last, although in descending order the index has them first. */
export function hasUndatedLast({ filter, sort, isDescending }: Omit<PageQuery, 'limit'>): boolean {
  const { shipDateFrom, shipDateBefore } = filter;
  const isDated = shipDateFrom !== undefined || shipDateBefore !== undefined;
  return sort === 'shipDate' && isDescending && !isDated;
}

export interface PageQuery {
  readonly filter: OrderFilter;
  /** By id if undefined. */
  readonly sort?: Sort | undefined;
  readonly isDescending: boolean;
  /** The page begins after this place; undefined for the first page. */
  readonly after?: PagePlace | undefined;
  readonly limit: number;
}

/**
 * The next orders in the sort order. A page is one snapshot. It has fewer orders than its limit, or none, if few of the
 * MAX_ROWS_READ rows that one request may read match the filter.
 */
export interface OrderPage {
  readonly orders: readonly OrderRecord[];
  /** The place after which the next page begins; undefined only after the last order. */
  readonly next: PagePlace | undefined;
  /** Of the snapshot. */
  readonly position: Position;
}

/** How many orders match a filter, by status, in one snapshot. */
export interface OrderCounts {
  readonly orders: Readonly<Record<OrderStatus, bigint>>;
  /** False if more than MAX_ROWS_COUNTED rows would have to be read: more orders may match than were counted. */
  readonly isExact: boolean;
  /** Of the snapshot. */
  readonly position: Position;
}

/** Maximum number of rows that one request for a page may read. */
export const MAX_ROWS_READ = 50_000;

/** Maximum number of rows that one count may read. */
export const MAX_ROWS_COUNTED = MAX_ROWS_READ;

/** What a filter compares. All but the status and the pet are sorted by an index: see Sort. */
export type Field = 'status' | 'petId' | Exclude<Sort, 'id'>;

/** A comparison of a field of an order with a value. */
export interface Comparison {
  readonly field: Field;
  /** IN has a list of values. */
  readonly sign: 'IN' | '=' | '>=' | '<';
  readonly value: bigint | string | readonly string[];
}

/** The field of each condition, and how it is compared. */
const CONDITIONS: Readonly<
  Record<Exclude<keyof OrderFilter, 'referencePrefix'>, readonly [Field, Comparison['sign']]>
> = {
  statuses: ['status', 'IN'],
  petId: ['petId', '='],
  reference: ['reference', '='],
  shipDateFrom: ['shipDate', '>='],
  shipDateBefore: ['shipDate', '<'],
  placedFrom: ['placedAt', '>='],
  placedBefore: ['placedAt', '<'],
  updatedFrom: ['updatedAt', '>='],
  updatedBefore: ['updatedAt', '<'],
};

/** All fields with the signs that they can be compared by. */
export const COMPARABLE: readonly Omit<Comparison, 'value'>[] = [
  ...Object.values(CONDITIONS),
  ['reference', '>='] as const,
  ['reference', '<'] as const,
].map(([field, sign]) => ({ field, sign }));

/** Returns the comparisons that all must hold. */
export function comparisonsOf({ referencePrefix, ...filter }: OrderFilter): Comparison[] {
  const prefix = referencePrefix === undefined ? undefined : prefixRange(referencePrefix);
  const given: (Omit<Comparison, 'value'> & { value: Comparison['value'] | undefined })[] = [
    ...Object.entries(CONDITIONS).map(([name, [field, sign]]) => {
      const value = filter[name as keyof typeof filter];
      return { field, sign, value: typeof value === 'number' ? BigInt(value) : value };
    }),
    { field: 'reference', sign: '>=', value: prefix?.from },
    { field: 'reference', sign: '<', value: prefix?.before },
  ];
  return given.filter((each): each is Comparison => each.value !== undefined);
}

/** Whether the index of a sort order selects by a comparison. */
export function isInRange({ field, sign }: Omit<Comparison, 'value'>, sort: Sort): boolean {
  return sort === 'id' ? sign === '=' : field === sort && sign !== '=';
}

/**
 * Divides a filter into comparisons that select a range of the index and comparisons on its rows. Without the latter, every row that is read
 * matches.
 */
export function dividedFilter(
  filter: OrderFilter,
  sort: Sort,
): {
  readonly range: readonly Comparison[];
  readonly rest: readonly Comparison[];
  readonly isSelective: boolean;
} {
  const all = comparisonsOf(filter);
  const rest = all.filter((each) => !isInRange(each, sort));
  // By the time of change, events that were not the last ones of their orders are read too.
  const isSelective = sort === 'updatedAt' || rest.length > 0;
  return { range: all.filter((each) => isInRange(each, sort)), rest, isSelective };
}

/**
 * Returns the sort order whose index reads the fewest rows for a filter, by a rule of thumb; undefined if the filter has no condition except on
 * the status, which the counters answer.
 */
export function narrowestSort(filter: OrderFilter): Sort | undefined {
  const narrowFirst: readonly Sort[] = ['id', 'reference', 'shipDate', 'updatedAt', 'placedAt'];
  return narrowFirst.find((sort) => dividedFilter(filter, sort).range.length > 0);
}

/** Returns the counters of a store for the statuses of a filter. */
export function countsOf(
  { statuses }: OrderFilter,
  counters: OrderCounts['orders'],
): OrderCounts['orders'] {
  const countOf = (status: OrderStatus) =>
    statuses === undefined || statuses.includes(status) ? counters[status] : 0n;
  return {
    pending: countOf('pending'),
    shipped: countOf('shipped'),
    cancelled: countOf('cancelled'),
  };
}

/** Returns the place of an order. */
export function placeOf(order: OrderRecord, sort: Sort): PagePlace {
  return { sortKey: sortKeyOf(order, sort), id: order.id };
}

function sortKeyOf(order: OrderRecord, sort: Sort): SortKey {
  switch (sort) {
    case 'id':
      return [];
    case 'placedAt':
      return [BigInt(order.placedAt)];
    case 'updatedAt':
      return [BigInt(order.updatedAt), order.revision];
    case 'shipDate':
      return [order.shipDate === undefined ? UNDATED : BigInt(order.shipDate)];
    case 'reference':
      return [order.reference!];
  }
}

/** A range of texts. */
interface TextRange {
  /** Inclusive. */
  readonly from: string;
  /** Exclusive; undefined if all later texts are in the range. */
  readonly before: string | undefined;
}

/** Returns the range of the texts that begin with a prefix, sorted by code points, which is how UTF-8 sorts them. */
function prefixRange(prefix: string): TextRange {
  const points = Array.from(prefix, (each) => each.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return { from: prefix, before: undefined };
  // Surrogates are no code points of a text.
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
  return { from: prefix, before: String.fromCodePoint(...points, next) };
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
