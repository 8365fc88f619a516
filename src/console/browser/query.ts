import type { OrderQuery, OrderRecord, OrderStatus } from '@store-orders/client';

export const STATUSES = ['pending', 'shipped', 'cancelled'] as const;

/** Of how many days the activity can be shown, today included. */
export const DAY_COUNTS = [14, 30, 90] as const;

/** What the page shows, as its URL says. */
export interface View {
  /** All if empty. */
  readonly statuses: readonly OrderStatus[];
  readonly petId: bigint | undefined;
  /** Empty for any. */
  readonly reference: string;
  /** Days of the reader, as YYYY-MM-DD. */
  readonly shipFrom: string;
  readonly shipBefore: string;
  /** The order whose details are open. */
  readonly order: bigint | undefined;
  /** One of DAY_COUNTS; undefined if the activity is not shown. */
  readonly days: number | undefined;
}

/** Reads a view from the query of a URL; what is malformed is left out. */
export function viewOf(search: string): View {
  const query = new URLSearchParams(search);
  const asked = (query.get('status') ?? '').split(',');
  const day = (name: string) => {
    const text = query.get(name) ?? '';
    return /^\d{4}-\d{2}-\d{2}$/.test(text) && dayStart(text) !== undefined ? text : '';
  };
  return {
    statuses: STATUSES.filter((status) => asked.includes(status)),
    petId: parseId(query.get('pet') ?? ''),
    reference: query.get('reference') ?? '',
    shipFrom: day('from'),
    shipBefore: day('before'),
    order: parseId(query.get('order') ?? ''),
    days: DAY_COUNTS.find((each) => String(each) === query.get('activity')),
  };
}

/** Writes a view as the query of a URL. */
export function searchOf(view: View): string {
  const { statuses, petId, reference, shipFrom, shipBefore, order, days } = view;
  const query = new URLSearchParams();
  if (statuses.length > 0) query.set('status', statuses.join());
  if (petId !== undefined) query.set('pet', String(petId));
  if (reference !== '') query.set('reference', reference);
  if (shipFrom !== '') query.set('from', shipFrom);
  if (shipBefore !== '') query.set('before', shipBefore);
  if (order !== undefined) query.set('order', String(order));
  if (days !== undefined) query.set('activity', String(days));
  return query.size === 0 ? '?' : `?${query}`;
}

/** Returns the filters of a view, for pages of orders, newest first. */
export function orderQuery(view: View): OrderQuery {
  const { statuses, petId, reference, shipFrom, shipBefore } = view;
  const [from, before] = [dayStart(shipFrom), dayStart(shipBefore)];
  return {
    order: 'desc',
    limit: 50,
    ...(statuses.length > 0 && { status: statuses }),
    ...(petId !== undefined && { petId }),
    ...(reference !== '' && { reference }),
    ...(from !== undefined && { shipDateFrom: from }),
    ...(before !== undefined && { shipDateBefore: before }),
  };
}

/** Whether an order is one of those that a view shows. */
export function isShown({ status, petId, shipDate, reference }: OrderRecord, view: View): boolean {
  const [from, before] = [dayStart(view.shipFrom), dayStart(view.shipBefore)];
  const at = shipDate === undefined ? Number.NaN : Date.parse(shipDate);
  if (view.statuses.length > 0 && !view.statuses.some((each) => each === status)) return false;
  if (view.petId !== undefined && petId !== view.petId) return false;
  if (view.reference !== '' && reference !== view.reference) return false;
  if (from !== undefined && !(at >= from.getTime())) return false;
  return before === undefined || at < before.getTime();
}

/** Parses an int64 in digits; undefined for any other text. */
export function parseId(text: string): bigint | undefined {
  if (!/^-?\d{1,19}$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}

/** The beginning of a day where the reader is. */
function dayStart(day: string): Date | undefined {
  const date = new Date(`${day}T00:00`);
  // While a year is typed, it has fewer digits.
  return date.getFullYear() >= 1900 ? date : undefined;
}
