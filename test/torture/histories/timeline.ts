import type { Json } from '../http.ts';
import type { PageAsked } from './operation.ts';

/** An event of the feed. */
export interface Change {
  readonly revision: number;
  readonly type: 'placed' | 'cancelled' | 'shipped';
  readonly order: string;
  readonly pet: string;
  readonly by: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Parses a change of the feed. */
export function changeOf({ revision, type, order, by, at }: Json): Change {
  return {
    ...{ revision: Number(revision), type, order: String(order.id), pet: String(order.petId) },
    ...{ by, at: Date.parse(at) },
  };
}

export function textOf({ revision, type, order }: Change): string {
  return `${revision}:${type}:${order}`;
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
  readonly last: number;
  #ids: readonly bigint[] | undefined;

  /** @throws Error if the changes do not make sense in themselves */
  constructor(changes: readonly Change[]) {
    this.changes = changes;
    this.last = changes.at(-1)?.revision ?? 0;
    const digest = new ListDigest();
    let from = 0;
    for (const [index, change] of changes.entries()) {
      this.#add(change);
      if (change.type === 'placed') digest.flip(change.order, 'pending');
      else {
        digest.flip(change.order, 'pending');
        if (change.type === 'shipped') digest.flip(change.order, 'shipped');
      }
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

  /** When the list of version 1 was so, in ascending order. @param orders `id:status` in ascending id */
  intervalsOfList(orders: string): readonly Interval[] {
    return this.#lists.get(digestOfList(orders)) ?? [];
  }

  statusAt(order: string, revision: number): string {
    const placed = this.#placed.get(order);
    if (placed === undefined || placed.revision > revision) return 'absent';
    const ended = this.#ended.get(order);
    return ended === undefined || ended.revision > revision ? 'pending' : ended.type;
  }

  /** All orders at a revision, in ascending id, as `id:status`. */
  ordersAt(revision: number): string[] {
    const all = {
      after: undefined,
      limit: Number.POSITIVE_INFINITY,
      status: undefined,
      isDescending: false,
    };
    return this.pageAt(revision, all);
  }

  /** A page of version 2 at a revision, as `id:status`. */
  pageAt(revision: number, { after, limit, status: wanted, isDescending }: PageAsked): string[] {
    this.#ids ??= [...this.#placed.keys()].map(BigInt).sort((one, other) => (one < other ? -1 : 1));
    const found: string[] = [];
    for (const id of isDescending ? this.#ids.toReversed() : this.#ids) {
      if (found.length >= limit) break;
      if (after !== undefined && (isDescending ? id >= after : id <= after)) continue;
      const status = this.statusAt(String(id), revision);
      if (status !== 'absent' && (wanted ?? status) === status) found.push(`${id}:${status}`);
    }
    return found;
  }

  /** The changes after one revision up to another. */
  between(after: number, upTo: number): Change[] {
    return this.changes.slice(this.#firstAfter(after), this.#firstAfter(upTo));
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

/** A digest of a set of orders that is updated by one order at a time. */
class ListDigest {
  #high = 0;
  #low = 0;

  /** Adds what is missing, and removes what is there. */
  flip(order: string, status: string): void {
    const text = `${order}:${status}`;
    const [high, low] = [hashOf(text, 0x811c9dc5), hashOf(text, 0x2545f491)];
    this.#high = (this.#high ^ high) >>> 0;
    this.#low = (this.#low ^ low) >>> 0;
  }

  get text(): string {
    return `${this.#high}:${this.#low}`;
  }
}

const EMPTY_LIST = '0:0';

export function digestOfList(orders: string): string {
  const digest = new ListDigest();
  for (const each of orders === '' ? [] : orders.split(' ')) {
    const [order, status] = each.split(':');
    digest.flip(order!, status!);
  }
  return digest.text;
}

/** FNV-1a with a final mix: 32 bits. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return (hash ^ (hash >>> 15)) >>> 0;
}
