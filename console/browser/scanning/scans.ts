import {
  ConnectionError,
  type OrderRecord,
  ResponseError,
  UnavailableError,
} from '@store-orders/client';
import { now } from '../clock.ts';
import { count } from '../format.ts';
import type { Screen } from '../screen.ts';
import { namedBy, ordersNamed } from '../search/search.ts';
import type { Session } from '../sign-in.ts';
import type { Bulk, Scan, Scans } from '../state.ts';
import { entriesOf, linesIn } from './pasted.ts';
import { beep } from './sound.ts';

/** Lines of the list. */
export const MAX_SCANS = 2_000;
/** How long to wait before codes are looked up again that could not be. */
const AGAIN_MS = 3_000;
/** The list in this browser, kept until it is cleared. */
const STORED = 'store-orders-scanned';

/** A line of the list, and what it means. */
export interface JudgedScan {
  readonly scan: Scan;
  /** Counts the lines from the earliest. */
  readonly number: number;
  /** Undefined if there is none, or if it is not known which. */
  readonly order: OrderRecord | undefined;
  /**
   * waiting: not looked up yet; several: more than one order; cancelled: not just now; ended: before it was scanned, or with another tracking number; mistaken,
   * repeated: the tracking number is an order's, or another line's; numbers: the order has several.
   */
  readonly result:
    | ('waiting' | 'ready' | 'done' | 'missing' | 'several')
    | ('cancelled' | 'ended' | 'mistaken' | 'repeated' | 'numbers');
}

/**
 * An order has one tracking number, and shares it with none: of lines that contradict each other, it is not known which is right.
 * @param bulk what has been done with orders since they were scanned
 */
export function judged(lines: readonly Scan[], bulk?: Bulk): readonly JudgedScan[] {
  const all = lines.map((scan) => ({ scan, order: orderOf(scan) }));
  const numbers = Map.groupBy(
    all.flatMap(({ scan, order }) => [...new Set([scan.trackingNumber, order?.trackingNumber])]),
    (each) => each,
  );
  const ids = Map.groupBy(all, ({ order }) => order?.id);
  return all.map(({ scan, order }, index) => {
    const { trackingNumber } = scan;
    const number = all.length - index;
    const isShared = trackingNumber !== undefined && numbers.get(trackingNumber)!.length > 1;
    const problem = ids.get(order?.id)!.length > 1 ? 'numbers' : isShared ? 'repeated' : undefined;
    const isDone =
      bulk?.results.get(order?.id ?? 0n)?.kind === 'done' && scan.at < order!.updatedAt;
    return { scan, number, order, result: isDone ? 'done' : resultOf(scan, order, problem) };
  });
}

/** The lines whose orders can ship, the earliest first. */
export const readyIn = ({ lines }: Scans): readonly JudgedScan[] =>
  judged(lines)
    .filter(({ result }) => result === 'ready')
    .toReversed();

function orderOf({ orders, chosen }: Scan): OrderRecord | undefined {
  if (chosen !== undefined) return orders?.find(({ id }) => id === chosen);
  return orders?.length === 1 ? orders[0] : undefined;
}

function resultOf(
  { orders, trackingNumber, isMistaken, at }: Scan,
  order: OrderRecord | undefined,
  problem: 'repeated' | 'numbers' | undefined,
): JudgedScan['result'] {
  if (orders === undefined) return 'waiting';
  if (order === undefined) return orders.length === 0 ? 'missing' : 'several';
  if (order.status === 'cancelled') return 'cancelled';
  const isSame = (trackingNumber ?? order.trackingNumber) === order.trackingNumber;
  if (order.status === 'shipped' && at < order.updatedAt && isSame) return 'done';
  if (order.status !== 'pending') return 'ended';
  return problem ?? (isMistaken ? 'mistaken' : 'ready');
}

/** The codes that were scanned, or pasted, and the orders that they mean. */
export class Scanning {
  readonly #screen: Screen;
  #isLooking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
    // As a scan, it needs no field with the cursor.
    addEventListener('paste', ({ target, clipboardData }) => {
      const isField = (target as Element).matches('input:not([type="checkbox"]), textarea');
      const isScanPage = screen.element.querySelector('.paste') !== null;
      if (isScanPage && screen.state.dialog === undefined && !isField)
        void this.paste(clipboardData?.getData('text/plain') ?? '');
    });
  }

  /** Shows the list that is kept in this browser, if it is of this key, and looks up what it names. */
  restore(): void {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    this.#change({ lines: storedFor(session.key.id), cleared: [] });
    void this.#lookUp();
  }

  /** Takes a code, and looks it up. */
  scan(text: string): void {
    if (text.trim() === '') return;
    this.#add([{ text: text.trim(), trackingNumber: undefined }]);
    void this.#lookUp(true);
  }

  /** Takes a pasted list, once it is known which texts of a line name orders. @returns whether it was taken */
  async paste(text: string): Promise<boolean> {
    const { session } = this.#screen.state;
    const lines = linesIn(text);
    if (session === undefined || lines.length === 0) return false;
    this.#change({ isReading: true, problem: undefined });
    let problem: string | undefined;
    try {
      const texts = lines.flatMap(({ ways, trackingNumber, columns }) =>
        [ways, trackingNumber ?? [], columns].flat(2),
      );
      const found = await ordersOf(session, texts);
      const entries = entriesOf(lines, (each) => found.get(each)!.length > 0);
      const room = MAX_SCANS - this.#screen.state.scans.lines.length;
      if (entries.length <= room) {
        this.#add(entries);
        this.#show(found);
      } else
        problem = `The list has room for ${count(room)} more; this text has ${count(entries.length)}.`;
    } catch (error) {
      problem = this.#screen.problemOf(session, error);
    }
    this.#change({ isReading: false, problem });
    return problem === undefined;
  }

  /** Chooses the order of a code that names several. */
  choose(number: number, id: bigint): void {
    this.#edit(number, (scan) => ({ ...scan, chosen: id }));
  }

  remove(number: number): void {
    const { lines } = this.#screen.state.scans;
    this.#change({ lines: lines.filter((each) => each.number !== number) });
  }

  /** Takes back the last scan, or that the list was cleared. */
  takeBack(): void {
    const { lines, cleared } = this.#screen.state.scans;
    const [last, ...others] = lines;
    if (last === undefined) {
      // Their orders can have changed since.
      this.#change({ lines: cleared.map((each) => ({ ...each, orders: undefined })), cleared: [] });
      void this.#lookUp();
    } else if (last.times === 1) this.#change({ lines: others });
    else this.#edit(last.number, (scan) => ({ ...scan, times: scan.times - 1 }));
  }

  clear(): void {
    const { lines: cleared } = this.#screen.state.scans;
    this.#change({ lines: [], cleared, problem: undefined, filter: undefined });
  }

  #add(entries: readonly Pick<Scan, 'text' | 'trackingNumber'>[]): void {
    let { lines } = this.#screen.state.scans;
    let number = lines.reduce((most, each) => Math.max(most, each.number), 0);
    for (const { text, trackingNumber } of entries) {
      const isSame = (each: Scan) => each.text === text && each.trackingNumber === trackingNumber;
      const known = lines.find(isSame);
      number += 1;
      const times = (known?.times ?? 0) + 1;
      const at = now().toISOString();
      const added = { ...(known ?? NEW), text, trackingNumber, number, times, at };
      lines = [added, ...lines.filter((each) => !isSame(each))].slice(0, MAX_SCANS);
    }
    this.#change({ lines, cleared: [] });
  }

  /** Looks up all codes that wait, together. @param isScan whether the result of the last one is to be heard */
  async #lookUp(isScan = false): Promise<void> {
    clearTimeout(this.#timer);
    const { session, scans, preferences } = this.#screen.state;
    const waiting = scans.lines.filter(({ orders }) => orders === undefined);
    if (session === undefined || this.#isLooking) return;
    if (waiting.length === 0) {
      const [last] = judged(scans.lines);
      if (isScan && last !== undefined && preferences.hasSound) beep(last.result === 'ready');
      return;
    }
    this.#isLooking = true;
    try {
      const numbers = waiting.flatMap(({ trackingNumber }) => trackingNumber ?? []);
      const found = await ordersOf(session, [...waiting.map(({ text }) => text), ...numbers]);
      if (this.#screen.state.session !== session) return;
      this.#show(found);
    } catch (error) {
      const problem = this.#screen.problemOf(session, error);
      if (problem === undefined) return;
      this.#change({ problem: isLater(error) ? undefined : problem });
      this.#timer = setTimeout(() => void this.#lookUp(), AGAIN_MS);
      return;
    } finally {
      this.#isLooking = false;
    }
    // Codes that were scanned meanwhile; the last of them is heard.
    await this.#lookUp(isScan);
  }

  /** Shows what codes name that have not been looked up yet. */
  #show(found: ReadonlyMap<string, readonly OrderRecord[]>): void {
    const { lines } = this.#screen.state.scans;
    const known = lines.map((scan) => (scan.orders === undefined ? withFound(scan, found) : scan));
    this.#change({ lines: merged(known), problem: undefined });
  }

  #edit(number: number, edit: (scan: Scan) => Scan): void {
    const { lines } = this.#screen.state.scans;
    this.#change({
      lines: merged(lines.map((each) => (each.number === number ? edit(each) : each))),
    });
  }

  #change(change: Partial<Scans>): void {
    this.#screen.change((state) => {
      state.scans = { ...state.scans, ...change };
      if (change.lines === undefined || state.session === undefined) return;
      const kept = change.lines.map(({ orders: _, isMistaken: __, ...each }) => ({
        ...{ ...each, chosen: each.chosen?.toString() },
      }));
      localStorage.setItem(STORED, JSON.stringify({ key: state.session.key.id, lines: kept }));
    });
  }
}

const NEW = { orders: undefined, chosen: undefined, isMistaken: false } as const;

/** Whether a lookup is repeated without a word, since the code only waits. */
const isLater = (error: unknown) =>
  error instanceof ConnectionError ||
  error instanceof UnavailableError ||
  (error instanceof ResponseError && error.status >= 500);

function withFound(scan: Scan, found: ReadonlyMap<string, readonly OrderRecord[]>): Scan {
  const orders = found.get(scan.text);
  const { trackingNumber } = scan;
  if (orders === undefined) return scan;
  const isMistaken = trackingNumber !== undefined && (found.get(trackingNumber)?.length ?? 0) > 0;
  return { ...scan, orders, isMistaken };
}

/** What means the same order is one line, the latest one, unless its lines have different tracking numbers. */
function merged(lines: readonly Scan[]): Scan[] {
  const ofOrders = Map.groupBy(lines, (scan) => orderOf(scan)?.id ?? scan);
  return [...ofOrders.values()].flatMap((same) => {
    const [latest] = same.flatMap(({ trackingNumber }) => trackingNumber ?? []);
    const numbers = Map.groupBy(same, ({ trackingNumber }) => trackingNumber ?? latest);
    return [...numbers].map(([trackingNumber, all]) => ({
      ...{ ...all[0]!, trackingNumber, isMistaken: all.some(({ isMistaken }) => isMistaken) },
      times: all.reduce((sum, { times }) => sum + times, 0),
    }));
  });
}

/** Returns the lines that are kept for a key. */
function storedFor(key: string): Scan[] {
  try {
    const stored = JSON.parse(localStorage.getItem(STORED) ?? '{}');
    if (stored.key !== key || !Array.isArray(stored.lines)) return [];
    return stored.lines
      .slice(0, MAX_SCANS)
      .filter(({ text, number }: Scan) => typeof text === 'string' && typeof number === 'number')
      .map((each: Scan) => ({ ...NEW, ...each, chosen: each.chosen && BigInt(each.chosen) }));
  } catch {
    // The stored text comes from another program.
    return [];
  }
}

/** Returns the orders that texts name. @throws errors of the client library */
async function ordersOf(session: Session, texts: readonly string[]) {
  const found = await ordersNamed(session, texts);
  return new Map([...found].map(([text, named]) => [text, namedBy(named)]));
}
