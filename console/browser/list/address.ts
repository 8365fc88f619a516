import type {
  OrderCounts,
  OrderFilter,
  OrderQuery,
  OrderRecord,
  OrderStatus,
} from '@store-orders/client';
import { caseless, containsPart } from '../../../protocol/caseless.ts';
import { COLUMNS, type Column } from '../preferences.ts';
import { boundsOf, dayStart, PRESETS_OF, type Range, rangeIn } from './range.ts';

export const STATUSES = ['pending', 'shipped', 'cancelled'] as const;
const PAGES = ['orders', 'scan', 'activity', 'keys', 'webhooks'] as const;
/** The states of keys that are listed, and the form of a new one. */
const KEY_VIEWS = ['valid', 'expired', 'revoked', 'create'] as const;
/** The types of changes that are counted. */
export const TYPES = ['placed', 'shipped', 'cancelled'] as const;
/** Numbers of days that the activity can show, today included. */
export const DAY_COUNTS = [14, 30, 90] as const;

interface Sorting {
  readonly by: 'id' | 'placedAt' | 'updatedAt' | 'shipDate';
  readonly isDescending: boolean;
}

const NEWEST_FIRST: Sorting = { by: 'id', isDescending: true };

/** The content of the page, as its URL encodes it. */
export interface View {
  readonly page: (typeof PAGES)[number];
  /** All if empty. */
  readonly statuses: readonly OrderStatus[];
  readonly petId: bigint | undefined;
  /** Empty for any. */
  readonly reference: string;
  /** The first characters of the reference; empty for any. */
  readonly prefix: string;
  /** A part of it, in any case; empty for any. */
  readonly contains: string;
  readonly ships: Range;
  readonly placed: Range;
  readonly changed: Range;
  readonly sorting: Sorting;
  /** The columns that are left out; undefined if the user's preference applies. */
  readonly without: readonly Column[] | undefined;
  /** The order with open details. */
  readonly order: bigint | undefined;
  /** One of DAY_COUNTS. */
  readonly days: number;
  /** The id of the key whose changes the activity shows; empty for all keys. */
  readonly by: string;
  /** The day of its changes, YYYY-MM-DD; empty for today. */
  readonly day: string;
  /** The type of its changes that is shown; empty for all. */
  readonly type: '' | (typeof TYPES)[number];
  /** What is shown of the API keys. */
  readonly keys: (typeof KEY_VIEWS)[number];
}

/** Reads a view from the query of a URL; malformed parts are ignored. */
export function viewOf(search: string): View {
  const query = new URLSearchParams(search);
  const textOf = (name: string) => query.get(name) ?? '';
  const asked = textOf('status').split(',');
  const contains = isPart(textOf('contains')) ? textOf('contains') : '';
  return {
    page: PAGES.find((each) => each === query.get('view')) ?? 'orders',
    statuses: STATUSES.filter((status) => asked.includes(status)),
    petId: parseId(textOf('pet')),
    reference: textOf('reference'),
    ...{ prefix: textOf('prefix'), contains },
    ships: rangeIn(textOf('ships'), PRESETS_OF.ships),
    placed: rangeIn(textOf('placed'), PRESETS_OF.placed),
    changed: rangeIn(textOf('changed'), PRESETS_OF.changed),
    sorting: sortingOf(textOf('sort'), contains),
    without: columnsIn(query.get('without')),
    order: parseId(textOf('order')),
    days: DAY_COUNTS.find((each) => String(each) === query.get('days')) ?? DAY_COUNTS[0],
    by: /^[\w-]{1,100}$/.test(textOf('by')) ? textOf('by') : '',
    day: dayStart(textOf('day')) === undefined ? '' : textOf('day'),
    type: TYPES.find((each) => each === query.get('type')) ?? '',
    keys: KEY_VIEWS.find((each) => each === query.get('keys')) ?? 'valid',
  };
}

/** Whether a part of references is long enough to be looked for. */
export const isPart = (text: string): boolean => [...text.trim()].length >= 3;

/** The orders whose references contain a part have one order. */
export const maySort = (by: Sorting['by'], contains: string): boolean =>
  by === 'id' || contains === '';

/** The view with the orders whose references contain a part, the newest first. */
export const withPart = (view: View, part: string): View => ({
  ...{ ...view, reference: '', prefix: '', contains: part.trim(), sorting: NEWEST_FIRST },
});

/** Columns by their names; "none" for no column. */
function columnsIn(text: string | null): readonly Column[] | undefined {
  const names = text?.split(',');
  return names && COLUMNS.filter((each) => names.includes(each));
}

function sortingOf(text: string, contains: string): Sorting {
  const isDescending = text.startsWith('-');
  const by = text.slice(isDescending ? 1 : 0);
  const known = (['id', 'placedAt', 'updatedAt', 'shipDate'] as const).find((each) => each === by);
  return known && maySort(known, contains) ? { by: known, isDescending } : NEWEST_FIRST;
}

const sortingText = ({ by, isDescending }: Sorting) => `${isDescending ? '-' : ''}${by}`;

/** Writes a view as the query of a URL. */
export function searchOf(view: View): string {
  const { page, statuses, petId, reference, prefix, contains, ships, placed, changed } = view;
  const { sorting, without, order, days, by, day, type, keys } = view;
  const query = new URLSearchParams();
  const setTexts = (texts: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(texts)) if (text !== '') query.set(name, text);
  };
  if (page !== 'orders') query.set('view', page);
  if (statuses.length > 0) query.set('status', statuses.join());
  if (petId !== undefined) query.set('pet', String(petId));
  setTexts({ reference, prefix, contains, ships, placed, changed });
  if (sortingText(sorting) !== sortingText(NEWEST_FIRST)) query.set('sort', sortingText(sorting));
  if (without !== undefined) query.set('without', without.join() || 'none');
  if (order !== undefined) query.set('order', String(order));
  if (page === 'activity') {
    if (days !== DAY_COUNTS[0]) query.set('days', String(days));
    setTexts({ by, day, type });
  }
  if (page === 'keys' && keys !== 'valid') query.set('keys', keys);
  return query.size === 0 ? '?' : `?${query}`;
}

/** A page as its tab opens it: without an order, or what a key did. */
export const onPage = (view: View, page: View['page']): View => ({
  ...view,
  ...{ page, order: undefined, by: '', day: '', type: '', keys: 'valid' },
});

/** The view without filters, with everything else as it is. */
export const withoutFilters = (view: View): View => ({
  ...view,
  ...{ statuses: [], petId: undefined, reference: '', prefix: '', contains: '', order: undefined },
  ...{ ships: '', placed: '', changed: '' },
});

export const isFiltered = (view: View): boolean =>
  Object.values(filterOf(view)).some((each) => each !== undefined);

/** Returns the part of a view that determines the list. */
export const listOf = (view: View): string =>
  searchOf({
    ...view,
    ...{ page: 'orders', without: undefined, order: undefined, days: DAY_COUNTS[0] },
  });

/** Returns the filters of a view, except its statuses; only pending orders can be overdue. */
export function filterOf(view: View): OrderFilter {
  const { petId, reference, prefix, contains } = view;
  const [shipDate, placedAt] = [boundsOf(view.ships), boundsOf(view.placed)];
  const updatedAt = boundsOf(view.changed);
  return {
    petId,
    reference: reference || undefined,
    referencePrefix: prefix || undefined,
    referenceContains: contains || undefined,
    ...(view.ships === 'overdue' && { status: 'pending' }),
    shipDateFrom: shipDate.from,
    shipDateBefore: shipDate.before,
    placedFrom: placedAt.from,
    placedBefore: placedAt.before,
    updatedFrom: updatedAt.from,
    updatedBefore: updatedAt.before,
  };
}

/** Returns the query of the list. */
export function orderQuery(view: View): OrderQuery {
  const { statuses, sorting, ships } = view;
  const isNever = ships === 'overdue' && statuses.length > 0 && !statuses.includes('pending');
  return {
    ...(statuses.length > 0 && { status: statuses }),
    ...filterOf(view),
    // A range without any time.
    ...(isNever && { shipDateFrom: boundsOf(ships).before }),
    sort: sorting.by === 'id' ? indexOf(view) : sorting.by,
    direction: sorting.isDescending ? 'desc' : 'asc',
    limit: 50,
  };
}

/** Returns the sort order whose index finds the orders of a view that are to be shown by their ids. */
function indexOf(view: View): OrderQuery['sort'] {
  const { petId, reference, prefix, contains, placed, changed } = view;
  if (petId !== undefined || reference !== '' || contains !== '') return 'id';
  if (prefix !== '') return 'reference';
  if (placed !== '') return 'placedAt';
  return changed === '' ? 'id' : 'updatedAt';
}

/** Whether an order matches a view. */
export function isShown(order: OrderRecord, view: View): boolean {
  const { statuses, petId, reference, prefix, contains } = view;
  if (statuses.length > 0 && !statuses.some((each) => each === order.status)) return false;
  if (view.ships === 'overdue' && order.status !== 'pending') return false;
  if (petId !== undefined && order.petId !== petId) return false;
  if (reference !== '' && order.reference !== reference) return false;
  if (prefix !== '' && order.reference?.startsWith(prefix) !== true) return false;
  if (contains !== '' && !containsPart(order.reference, caseless(contains))) return false;
  return (
    isIn(order.shipDate, view.ships) &&
    isIn(order.placedAt, view.placed) &&
    isIn(order.updatedAt, view.changed)
  );
}

function isIn(text: string | undefined, range: Range): boolean {
  const { from, before } = boundsOf(range);
  const at = text === undefined ? Number.NaN : Date.parse(text);
  if (from !== undefined && !(at >= from.getTime())) return false;
  return before === undefined || at < before.getTime();
}

/** Whether an order comes before another in the order of the list. */
export function comesBefore(one: OrderRecord, other: OrderRecord, view: View): boolean {
  const { sort = 'id' } = orderQuery(view);
  if (sort === 'reference') {
    const order = compareReferences(one.reference!, other.reference!);
    return (order === 0 ? one.id < other.id : order < 0) !== view.sorting.isDescending;
  }
  const [first, second] = [one, other].map((order) =>
    sort === 'id' ? 0 : Date.parse(order[sort] ?? ''),
  ) as [number, number];
  // Orders without a ship date are last, in either order.
  if (Number.isNaN(first) !== Number.isNaN(second)) return Number.isNaN(second);
  if (Number.isNaN(first)) return one.id < other.id !== view.sorting.isDescending;
  const isSameRevision = sort !== 'updatedAt' || one.revision === other.revision;
  const isLess = isSameRevision ? one.id < other.id : one.revision < other.revision;
  return (first === second ? isLess : first < second) !== view.sorting.isDescending;
}

/** Compares texts by their code points. */
function compareReferences(one: string, other: string): number {
  const [first, second] = [one, other].map((text) =>
    Array.from(text, (each) => each.codePointAt(0)!),
  );
  const index = first!.findIndex((point, at) => point !== second![at]);
  return index === -1 ? first!.length - second!.length : first![index]! - (second![index] ?? -1);
}

/** Parses an int64 in canonical digits; undefined for any other text: 04 is a reference, not order 4. */
function parseId(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

const WRITTEN_ID = /^(?:(order|pet)\b)?[\s#]*(-?(?:\d+|\d{1,3}(?:[\s,.'’]\d{3})+))$/i;

/** Parses an id as people write it: 998, #998, 1,000, order 998. */
export function parseWrittenId(text: string): bigint | undefined {
  const digits = WRITTEN_ID.exec(text.trim())?.[2] ?? '';
  return parseId(digits.replaceAll(/[\s,.'’]/g, ''));
}

/** Whether an id is written as that of a pet: pet 5. */
export const isWrittenPet = (text: string): boolean =>
  WRITTEN_ID.exec(text.trim())?.[1]?.toLowerCase() === 'pet';

/** Returns the number of orders with one of these statuses; of all orders without a status. */
export function totalOf(counts: OrderCounts['counts'], statuses: View['statuses'] = []): bigint {
  const each = statuses.length === 0 ? STATUSES : statuses;
  return each.reduce((sum, status) => sum + counts[status], 0n);
}

/** The suffix of a number of orders: a plus if more may match. */
export const moreIn = (counts: OrderCounts | undefined): string =>
  counts?.exact === false ? '+' : '';
