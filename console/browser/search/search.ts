import type { OrderRecord } from '@store-orders/client';
import { isPart, parseWrittenId } from '../list/address.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Containing, Found } from '../state.ts';

/** How long a lookup may take. */
const LIMIT_MS = 1_500;
/** How long a page of parts may take, which examines more orders; the service answers sooner, unless it cannot be reached. */
const PARTS_LIMIT_MS = 5_000;
/** How long a result is taken for that of the same text. */
const FRESH_MS = 2_000;
/** How long the search waits after a key before it looks up the text. */
const TYPED_MS = 150;
/** Orders that are shown with the same reference, which several keys can have used, and with references that begin with the text. */
export const MAX_HITS = 5;

/** The orders that a text names as a whole. */
type Named = Pick<Found, 'byId' | 'exact'>;

/** The same in one list: by its id, or by its reference. */
export const namedBy = ({ byId, exact }: Named): readonly OrderRecord[] =>
  byId === undefined ? exact : [byId, ...exact.filter(({ id }) => id !== byId.id)];

/** Why a text names several orders. */
export const whySeveral = ({ byId, exact }: Named): string =>
  byId !== undefined && exact.length === 1
    ? 'The id of one, the reference of another.'
    : 'More than one key has used this reference.';

/** The order that Enter opens: the only one that is named, or was found; undefined also while parts are looked for, and for a part if older orders were not examined. */
export function onlyHit(found: Found): OrderRecord | undefined {
  const { beginning, containing } = found;
  const named = namedBy(found);
  if (named.length === 1) return named[0];
  const parts = containing?.orders ?? [];
  const hits = [...named, ...beginning, ...parts];
  const isAll = parts.length === 0 || containing?.examined === undefined;
  return hits.length === 1 && isAll && !containing?.isReading ? hits[0] : undefined;
}

/** What no reference has in it, and how long it is at most. */
const NO_REFERENCE = /\p{Cc}/u;
const MAX_REFERENCE = 255;

/** Returns the orders that texts name as a whole, by their ids or references. @throws errors of the client library; a TimeoutError after `limitMs` */
export async function ordersNamed(session: Session, texts: readonly string[], limitMs?: number) {
  const { client, ending } = session;
  const signal = limitMs === undefined ? ending.signal : limited(session, limitMs);
  const ids = new Set(texts.flatMap((text) => parseWrittenId(text) ?? []));
  const references = new Set(texts.flatMap(spellingsOf).filter(isReference));
  const asked = { ids: [...ids], references: [...references] };
  const retries = limitMs === undefined ? undefined : Number.POSITIVE_INFINITY;
  const orders = await client.findOrders(asked, { signal, retries });
  const byId = new Map(orders.map((order) => [order.id, order]));
  const byReference = Map.groupBy(orders, ({ reference }) => reference);
  return new Map(
    texts.map((text) => {
      const id = parseWrittenId(text);
      const exact = spellingsOf(text).flatMap((each) => byReference.get(each) ?? []);
      return [text, { byId: id === undefined ? undefined : byId.get(id), exact }];
    }),
  );
}

/** Blanks are often pasted along, but can be part of a reference. */
const spellingsOf = (text: string): string[] => [...new Set([text, text.trim()])];

const isReference = (text: string): boolean =>
  text !== '' && [...text].length <= MAX_REFERENCE && !NO_REFERENCE.test(text);

/** Orders that a page examines before it ends without having found enough. */
const EXAMINED_PER_PAGE = 50_000;

const limited = ({ ending }: Session, ms: number) =>
  AbortSignal.any([ending.signal, AbortSignal.timeout(ms)]);

/** The search for parts of references, before its first page. */
const NOT_BEGUN = {
  ...{ orders: [], examined: 0, older: undefined, isReading: true, problem: undefined },
} satisfies Containing;

/** @throws errors of the client library; a TimeoutError after LIMIT_MS */
async function lookUp(session: Session, text: string): Promise<Found> {
  const [named, found] = await Promise.all([
    ordersNamed(session, [text], LIMIT_MS),
    beginningWith(session, text.trim()),
  ]);
  const spellings = spellingsOf(text);
  const beginning = found.filter(({ reference }) => !spellings.includes(reference!));
  return {
    ...{ text, ...named.get(text)!, beginning },
    // The end of a reference can be an id, too.
    containing:
      named.get(text)!.exact.length > 0 || !isPart(text) || !isReference(text.trim())
        ? undefined
        : NOT_BEGUN,
  };
}

/** Returns the search for parts with the results of its next page. @throws errors of the client library; a TimeoutError after PARTS_LIMIT_MS */
async function withNextPage(session: Session, found: Found, before: Containing) {
  const known = [...namedBy(found), ...found.beginning];
  const query = {
    referenceContains: found.text.trim(),
    limit: MAX_HITS + known.length + 1,
    cursor: before.older,
  };
  const page = await session.client.listOrders(query, { signal: limited(session, PARTS_LIMIT_MS) });
  const others = page.orders.filter(({ id }) => known.every((each) => each.id !== id));
  const orders = [...before.orders, ...others];
  const isEnough = orders.length > MAX_HITS;
  const examined = before.examined! + EXAMINED_PER_PAGE;
  return {
    ...{ orders, isReading: false, problem: undefined },
    examined: page.next === undefined ? undefined : examined,
    older: isEnough ? undefined : page.next,
  };
}

async function beginningWith(session: Session, text: string): Promise<readonly OrderRecord[]> {
  if (!isReference(text)) return [];
  const query = { referencePrefix: text, limit: MAX_HITS + 1 };
  const options = { signal: limited(session, LIMIT_MS) };
  return (await session.client.listOrders(query, options)).orders;
}

/** The search box: looks up what is typed or scanned. */
export class Search {
  readonly #screen: Screen;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What is looked up, or was last. */
  #last:
    | {
        readonly session: Session;
        readonly text: string;
        readonly at: number;
        readonly found: Promise<Found | undefined>;
      }
    | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Takes a text, and looks it up if none follows it soon. */
  type(text: string): void {
    clearTimeout(this.#timer);
    this.#screen.set({ search: text, searchProblem: undefined });
    if (text.trim() !== '') this.#timer = setTimeout(() => void this.find(text), TYPED_MS);
  }

  /** Resolves to the orders that the text means; undefined if they could not be read, or if the text has changed by then. */
  async find(text: string): Promise<Found | undefined> {
    clearTimeout(this.#timer);
    const { session } = this.#screen.state;
    if (session === undefined) return undefined;
    const at = performance.now();
    const last = this.#last;
    if (last?.session !== session || last.text !== text || at - last.at > FRESH_MS)
      this.#last = { session, text, at, found: this.#find(session, text) };
    return this.#last!.found;
  }

  /** Resolves to whether a text names an order as a whole; also if that is not known. */
  async mayName(text: string): Promise<boolean> {
    const { session } = this.#screen.state;
    if (session === undefined) return false;
    const found = await ordersNamed(session, [text], LIMIT_MS).catch(() => undefined);
    return found === undefined || namedBy(found.get(text)!).length > 0;
  }

  async #find(session: Session, text: string): Promise<Found | undefined> {
    const screen = this.#screen;
    let searchProblem: string | undefined;
    try {
      const found = await lookUp(session, text);
      if (this.#isCurrent(session, text)) {
        // Without the parts, which take longer.
        screen.set({ found, searchProblem });
        const examining = this.#examine(session, found);
        if (namedBy(found).length === 0) await examining;
      }
    } catch (error) {
      searchProblem = screen.problemOf(session, error);
    }
    if (!this.#isCurrent(session, text) || searchProblem !== undefined) this.#last = undefined;
    if (!this.#isCurrent(session, text)) return undefined;
    screen.set({ searchProblem });
    return searchProblem === undefined ? screen.state.found : undefined;
  }

  /** Looks for the part in older orders, page by page, until more are found or the text changes. */
  async goOn(): Promise<void> {
    const { session, search, found } = this.#screen.state;
    if (session === undefined || found?.text !== search) return;
    let isGoingOn = true;
    while (isGoingOn) isGoingOn = await this.#examine(session, this.#screen.state.found!);
  }

  /** Looks for the part in the next page of orders. @returns whether it has found no further ones, and older orders are left */
  async #examine(session: Session, found: Found): Promise<boolean> {
    const { text, containing: before } = found;
    const show = (containing: Containing) => {
      if (this.#isCurrent(session, text)) this.#screen.set({ found: { ...found, containing } });
    };
    if (before === undefined) return false;
    show({ ...before, isReading: true, problem: undefined });
    try {
      const next = await withNextPage(session, found, before);
      show(next);
      const isMore = next.orders.length > before.orders.length;
      return !isMore && next.older !== undefined && this.#isCurrent(session, text);
    } catch (error) {
      show({ ...before, isReading: false, problem: this.#screen.problemOf(session, error) });
      return false;
    }
  }

  #isCurrent(session: Session, text: string): boolean {
    const { state } = this.#screen;
    return state.session === session && state.search === text;
  }
}

/**
 * Returns the reference that a text in a filter means: with the blanks around it if an order has such a reference, otherwise without, since blanks
 * are often pasted along.
 */
export async function writtenReference({ state }: Screen, text: string): Promise<string> {
  const trimmed = text.trim();
  if (trimmed === text || state.session === undefined) return trimmed;
  const found = await ordersNamed(state.session, [text]).catch(() => undefined);
  return found?.get(text)?.exact.some(({ reference }) => reference === text) ? text : trimmed;
}
