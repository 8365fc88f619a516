import type { Json } from '../http.ts';
import type { ChangeFilter, Filter, PageAsked } from './operation.ts';
import { entryOf, hashOf, listedOf } from './record.ts';

/** An event of the feed. */
export interface Change {
  readonly revision: number;
  readonly type: 'placed' | 'cancelled' | 'shipped';
  readonly order: string;
  readonly pet: string;
  readonly by: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The order after the change, as version 2 shows it, and as version 1 lists it: see record.ts. */
  readonly entry: string;
  readonly listed: string;
  /** Times as version 2 shows them. */
  readonly placedAt: string;
  readonly updatedAt: string;
  readonly shipDate: string | undefined;
  readonly reference: string | undefined;
  /** The reason of a cancel, or the tracking number of a shipment. */
  readonly detail: string | undefined;
  /** The head of the history; of the last change of a revision. */
  readonly head: string | undefined;
}

/** Parses a change of the feed. */
export function changeOf({ revision, type, order, by, at, cursor }: Json): Change {
  return {
    ...{ revision: Number(revision), type, order: String(order.id), pet: String(order.petId) },
    ...{ by, at: Date.parse(at), entry: entryOf(order), listed: listedOf(order) },
    ...{ placedAt: order.placedAt, updatedAt: order.updatedAt, shipDate: order.shipDate },
    reference: order.reference,
    detail: order.reason ?? order.trackingNumber,
    head: cursor?.split('-')[1],
  };
}

/** A change in short, as it is compared: its revision, its type, the order after it, and the API key. */
export function textOf({ revision, type, entry, by }: Change): string {
  return `${revision}:${type}:${entry}:${by}`;
}

/** The revisions at which something was so, both included. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Every state of the store, as its feed has them: the order of everything, which the other responses must agree with. */
export class Timeline {
  readonly changes: readonly Change[];
  readonly #placed = new Map<string, Change>();
  readonly #ended = new Map<string, Change>();
  readonly #byPet = new Map<string, Change>();
  /** The revisions of each list of version 1, by its digest: a list is the same again once a new order is cancelled. */
  readonly #lists = new Map<string, Interval[]>();
  /** The digests of lists. */
  readonly #digests = new Map<string, string>();
  readonly last: number;
  /** All orders, in ascending id. */
  #orders: readonly { readonly order: string; readonly id: bigint }[] | undefined;

  /** @throws Error if the changes do not make sense in themselves */
  constructor(changes: readonly Change[]) {
    this.changes = changes;
    this.last = changes.at(-1)?.revision ?? 0;
    const digest = new ListDigest();
    let from = 0;
    for (const [index, change] of changes.entries()) {
      this.#add(change);
      digest.flip(this.#placed.get(change.order)!.listed);
      if (change.type === 'shipped') digest.flip(change.listed);
      const next = changes[index + 1]?.revision;
      if (next === change.revision) continue;
      if (next !== undefined && next < change.revision) {
        throw new Error(`the feed goes back from revision ${change.revision} to ${next}`);
      }
      if (from === 0) this.#addList(EMPTY_LIST, { from: 0, to: change.revision - 1 });
      from = change.revision;
      this.#addList(digest.text, { from, to: (next ?? Number.POSITIVE_INFINITY) - 1 });
    }
    if (changes.length === 0) this.#addList(EMPTY_LIST, { from: 0, to: Number.POSITIVE_INFINITY });
  }

  #addList(digest: string, interval: Interval): void {
    const known = this.#lists.get(digest);
    if (known === undefined) this.#lists.set(digest, [interval]);
    else known.push(interval);
  }

  #add(change: Change): void {
    const { type, order, pet } = change;
    const isPlaced = type === 'placed';
    if (isPlaced === this.#placed.has(order) || this.#ended.has(order)) {
      throw new Error(
        `the feed has ${textOf(change)} for an order that is not in a state for that`,
      );
    }
    // Workers send the id of their key, or nothing.
    if (change.detail !== undefined && change.detail !== change.by) {
      throw new Error(`the feed has the detail ${change.detail} in ${textOf(change)}`);
    }
    (isPlaced ? this.#placed : this.#ended).set(order, change);
    if (!isPlaced) return;
    const other = this.#byPet.get(pet);
    if (other !== undefined) {
      throw new Error(`one placement made the orders ${other.order} and ${order}`);
    }
    this.#byPet.set(pet, change);
  }

  placed(order: string): Change | undefined {
    return this.#placed.get(order);
  }

  /** The cancel or shipment of an order. */
  ended(order: string): Change | undefined {
    return this.#ended.get(order);
  }

  placement(pet: string): Change | undefined {
    return this.#byPet.get(pet);
  }

  /** When an order was in a state; `absent` before it was placed. Undefined if it never was. */
  intervalOf(order: string, status: string): Interval | undefined {
    const from = this.#placed.get(order)?.revision ?? Number.POSITIVE_INFINITY;
    const ended = this.#ended.get(order);
    const end = ended?.revision ?? Number.POSITIVE_INFINITY;
    if (status === 'absent') return { from: 0, to: from - 1 };
    if (from === Number.POSITIVE_INFINITY) return undefined;
    if (status === 'pending') return { from, to: end - 1 };
    if (status === 'ended') return { from: end, to: Number.POSITIVE_INFINITY };
    return ended?.type === status ? { from: end, to: Number.POSITIVE_INFINITY } : undefined;
  }

  /** When the list of version 1 was so, in ascending order. @param orders the entries, in ascending id */
  intervalsOfList(orders: string): readonly Interval[] {
    // Many responses have the same list.
    const digest = this.#digests.get(orders) ?? digestOfList(orders);
    this.#digests.set(orders, digest);
    return this.#lists.get(digest) ?? [];
  }

  /** The latest change of an order up to a revision; undefined before it was placed. */
  #latest(order: string, revision: number): Change | undefined {
    const [placed, ended] = [this.#placed.get(order)!, this.#ended.get(order)];
    if (placed.revision > revision) return undefined;
    return ended === undefined || ended.revision > revision ? placed : ended;
  }

  /** The entry of an order while it was in a state. */
  entryIn(order: string, status: string): string | undefined {
    return (status === 'pending' ? this.#placed : this.#ended).get(order)?.entry;
  }

  /** The head of the history at a revision. */
  headAt(revision: number): string | undefined {
    return this.changes[this.#firstAfter(revision) - 1]?.head;
  }

  /** The list of version 1 at a revision. */
  listAt(revision: number): string[] {
    return this.#statesAt(revision).flatMap(({ change }) =>
      change.type === 'cancelled' ? [] : [change.listed],
    );
  }

  /** All orders at a revision, in ascending id, each with its status and as version 1 lists it. */
  exportAt(revision: number): string[] {
    return this.#statesAt(revision).map(({ change }) => `${statusAfter(change)}:${change.listed}`);
  }

  /** All orders of version 2 at a revision, in ascending id. */
  ordersAt(revision: number): string[] {
    return this.#statesAt(revision).map(({ change }) => change.entry);
  }

  /** The latest change of each order at a revision, in ascending id. */
  #statesAt(revision: number): { readonly id: bigint; readonly change: Change }[] {
    this.#orders ??= [...this.#placed.keys()]
      .map((order) => ({ order, id: BigInt(order) }))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
    return this.#orders.flatMap(({ order, id }) => {
      const change = this.#latest(order, revision);
      return change === undefined ? [] : [{ id, change }];
    });
  }

  #matchingAt(revision: number, filter: Filter) {
    return this.#statesAt(revision).filter(({ change }) => isMatching(change, filter));
  }

  /** How many orders match at a revision, by status. */
  countsAt(revision: number, filter: Filter): OrderCounts {
    const counts = { pending: 0, shipped: 0, cancelled: 0 };
    for (const { change } of this.#matchingAt(revision, filter)) counts[statusAfter(change)] += 1;
    return counts;
  }

  /** A page of version 2 at a revision. @param first its first order, if it has one */
  pageAt(revision: number, asked: PageAsked, first: string | undefined): string[] {
    const { sort, isDescending, after, since, limit } = asked;
    const way = isDescending ? -1 : 1;
    const orders = this.#matchingAt(revision, asked)
      .map(({ id, change }) => {
        return { ...positionOf(change, sort, id), entry: change.entry, at: change.revision };
      })
      .filter((each) => after === undefined || comparePositions(each, after, way) > 0)
      .sort((one, other) => comparePositions(one, other, way));
    // The page before may have examined an order when it did not match yet.
    const isPassed = ({ entry, at }: { readonly entry: string; readonly at: number }) =>
      since !== undefined && at > since && entry !== first;
    const begin = orders.findIndex((each) => !isPassed(each));
    const rest = begin === -1 ? [] : orders.slice(begin, begin + limit);
    return rest.map(({ entry }) => entry);
  }

  /** The changes after one revision up to another, all or some. */
  between(after: number, upTo: number, { type, pet, by }: ChangeFilter = {}): Change[] {
    return this.changes
      .slice(this.#firstAfter(after), this.#firstAfter(upTo))
      .filter(
        (change) =>
          (type === undefined || change.type === type) &&
          (pet === undefined || change.pet === pet) &&
          (by === undefined || change.by === by),
      );
  }

  #firstAfter(revision: number): number {
    let [low, high] = [0, this.changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.changes[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** A place in a sorted list: orders with the same key are sorted by id. */
export interface Position {
  /** The time as version 2 shows it, by the time of change with the revision; the reference; empty if orders are sorted by id. */
  readonly key: string;
  readonly id: bigint;
}

/** Orders without a shipDate are the last ones, in either order. */
const UNDATED = '~';

/** Whether an order is one of those with `filter` after a change. */
function isMatching(
  change: Change,
  { status, pet, reference, referencePrefix, referenceContains: part, ...times }: Filter,
): boolean {
  const { placedFrom, placedBefore, shipDateFrom, shipDateBefore, updatedFrom, updatedBefore } =
    times;
  const { placedAt, updatedAt, shipDate } = change;
  return (
    (status === undefined || status.split(',').includes(statusAfter(change))) &&
    (pet === undefined || change.pet === pet) &&
    (reference === undefined || change.reference === reference) &&
    (referencePrefix === undefined || change.reference?.startsWith(referencePrefix) === true) &&
    (part === undefined || change.reference?.toUpperCase().includes(part.toUpperCase()) === true) &&
    (updatedFrom === undefined || updatedAt >= updatedFrom) &&
    (updatedBefore === undefined || updatedAt < updatedBefore) &&
    (placedFrom === undefined || placedAt >= placedFrom) &&
    (placedBefore === undefined || placedAt < placedBefore) &&
    (shipDateFrom === undefined || (shipDate !== undefined && shipDate >= shipDateFrom)) &&
    (shipDateBefore === undefined || (shipDate !== undefined && shipDate < shipDateBefore))
  );
}

/** Returns where an order is. */
export function positionOf(
  order: Pick<Change, 'placedAt' | 'updatedAt'> & {
    readonly revision: number | bigint;
    readonly shipDate?: string | undefined;
    readonly reference?: string | undefined;
  },
  sort: PageAsked['sort'],
  id: bigint,
): Position {
  if (sort === 'id') return { key: '', id };
  if (sort !== 'updatedAt') return { key: order[sort] ?? UNDATED, id };
  return { key: `${order.updatedAt} ${String(order.revision).padStart(19, '0')}`, id };
}

/** @param way 1 for ascending, -1 for descending order */
function comparePositions(one: Position, other: Position, way: 1 | -1): number {
  if (one.key === other.key) return way * (one.id < other.id ? -1 : Number(one.id > other.id));
  if (one.key === UNDATED || other.key === UNDATED) return one.key === UNDATED ? 1 : -1;
  return way * (one.key < other.key ? -1 : 1);
}

/** Numbers of orders, by status. */
export type OrderCounts = Readonly<Record<'pending' | 'shipped' | 'cancelled', unknown>>;

function statusAfter({ type }: Change): keyof OrderCounts {
  return type === 'placed' ? 'pending' : type;
}

/** A digest of a set of orders that is updated by one order at a time. */
class ListDigest {
  #high = 0;
  #low = 0;

  /** Adds an entry that is missing, or removes it. */
  flip(text: string): void {
    const [high, low] = [hashOf(text, 0x811c9dc5), hashOf(text, 0x2545f491)];
    this.#high = (this.#high ^ high) >>> 0;
    this.#low = (this.#low ^ low) >>> 0;
  }

  get text(): string {
    return `${this.#high}:${this.#low}`;
  }
}

const EMPTY_LIST = '0:0';

function digestOfList(orders: string): string {
  const digest = new ListDigest();
  for (const each of orders === '' ? [] : orders.split(' ')) digest.flip(each);
  return digest.text;
}
