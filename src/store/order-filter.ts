// What orders can be filtered and sorted by: a new filter is a field of OrderFilter, a line of CONDITIONS and, in each engine, a column.

import { caseless } from '../../protocol/caseless.ts';
import type { OrderStatus } from '../domain/order.ts';

/** Conditions that all must hold; absent ones hold for every order. */
export interface OrderFilter {
  readonly statuses?: readonly OrderStatus[] | undefined;
  readonly petId?: bigint | undefined;
  readonly reference?: string | undefined;
  /** The characters that the reference begins with. */
  readonly referencePrefix?: string | undefined;
  /** A part of the reference, in any case: see `containsPart`. Pages are sorted by id then. */
  readonly referenceContains?: string | undefined;
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

/** What a filter compares. All but the status and the pet are sorted by an index: see Sort. */
export type Field = 'status' | 'petId' | Exclude<Sort, 'id'>;

export interface Comparison {
  readonly field: Field;
  /** IN has a list of values. CONTAINS, which no index has, is `containsPart`. */
  readonly sign: 'IN' | '=' | '>=' | '<' | 'CONTAINS';
  readonly value: bigint | string | readonly string[];
}

/** Conditions that are comparisons: a prefix of the reference is the two of its range. */
interface Conditions extends Omit<OrderFilter, 'referencePrefix'> {
  /** Inclusive. */
  readonly referenceFrom?: string | undefined;
  /** Exclusive. */
  readonly referenceBefore?: string | undefined;
}

/** The field of each condition, and how it is compared. */
const CONDITIONS: Readonly<Record<keyof Conditions, Omit<Comparison, 'value'>>> = {
  statuses: { field: 'status', sign: 'IN' },
  petId: { field: 'petId', sign: '=' },
  reference: { field: 'reference', sign: '=' },
  referenceContains: { field: 'reference', sign: 'CONTAINS' },
  shipDateFrom: { field: 'shipDate', sign: '>=' },
  shipDateBefore: { field: 'shipDate', sign: '<' },
  placedFrom: { field: 'placedAt', sign: '>=' },
  placedBefore: { field: 'placedAt', sign: '<' },
  updatedFrom: { field: 'updatedAt', sign: '>=' },
  updatedBefore: { field: 'updatedAt', sign: '<' },
  referenceFrom: { field: 'reference', sign: '>=' },
  referenceBefore: { field: 'reference', sign: '<' },
};

/** All fields with the signs that they can be compared by. */
export const COMPARABLE = Object.values(CONDITIONS);

export function comparisonsOf({
  referencePrefix,
  referenceContains,
  ...filter
}: OrderFilter): Comparison[] {
  const range = referencePrefix === undefined ? {} : prefixRange(referencePrefix);
  const part = referenceContains && caseless(referenceContains);
  const conditions: Conditions = { ...filter, ...range, referenceContains: part };
  return Object.entries(CONDITIONS).flatMap(([name, condition]) => {
    const value = conditions[name as keyof Conditions];
    if (value === undefined) return [];
    return { ...condition, value: typeof value === 'number' ? BigInt(value) : value };
  });
}

/** Whether the index of a sort order selects by a comparison. */
export function isInRange({ field, sign }: Omit<Comparison, 'value'>, sort: Sort): boolean {
  return sort === 'id' ? sign === '=' : field === sort && (sign === '>=' || sign === '<');
}

/**
 * Divides a filter into comparisons that select a range of the index and comparisons on its rows. Without the latter, every row that is read matches.
 */
export function dividedFilter(filter: OrderFilter, sort: Sort) {
  const all = comparisonsOf(filter);
  const rest = all.filter((each) => !isInRange(each, sort));
  // By the time of change, events that were not the last ones of their orders are read too.
  const isSelective = sort === 'updatedAt' || rest.length > 0;
  return { range: all.filter((each) => isInRange(each, sort)), rest, isSelective };
}

/**
 * Returns the sort order whose index reads the fewest rows for a filter, by a rule of thumb: that of the ids if no index has a part of a reference.
 * Undefined if the filter has no condition except on the status, which the counters answer.
 */
export function narrowestSort(filter: OrderFilter): Sort | undefined {
  const narrowFirst: readonly Sort[] = ['id', 'reference', 'shipDate', 'updatedAt', 'placedAt'];
  const all = filter.referenceContains === undefined ? undefined : 'id';
  return narrowFirst.find((sort) => dividedFilter(filter, sort).range.length > 0) ?? all;
}

/** Returns the range of the references that begin with a prefix, sorted by code points, which is how UTF-8 sorts them. */
function prefixRange(prefix: string): Conditions {
  const points = Array.from(prefix, (each) => each.codePointAt(0)!);
  while (points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  // All later references are in the range.
  if (last === undefined) return { referenceFrom: prefix };
  // Surrogates are no code points of a text.
  const next = last + 1 === FIRST_SURROGATE ? LAST_SURROGATE + 1 : last + 1;
  return { referenceFrom: prefix, referenceBefore: String.fromCodePoint(...points, next) };
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;
