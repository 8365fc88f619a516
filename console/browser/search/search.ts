import { InvalidRequestError, type OrderRecord } from '@store-orders/client';
import { parseWrittenId } from '../list/address.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Found } from '../state.ts';

/** How long a lookup may take. */
const LIMIT_MS = 1_500;
/** How long the search waits after a key before it looks up the text. */
const TYPED_MS = 150;
/** Orders that are shown with the same reference, which several keys can have used, and with references that begin with the text. */
export const MAX_HITS = 5;

/** The orders that a text names as a whole. */
type Named = Pick<Found, 'byId' | 'exact'>;

/** The same in one list: by its id, or by its reference. */
export const namedBy = ({ byId, exact }: Named): readonly OrderRecord[] =>
  byId === undefined ? exact : [byId, ...exact.filter(({ id }) => id !== byId.id)];

/** What no reference has in it, and how long it is at most. */
const NO_REFERENCE = /\p{Cc}/u;
const MAX_REFERENCE = 255;

/** Returns the orders that texts name as a whole, by their ids or references. @throws errors of the client library */
export async function ordersNamed(
  { client, ending }: Session,
  texts: readonly string[],
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Map<string, Named>> {
  const ids = new Set(texts.flatMap((text) => parseWrittenId(text) ?? []));
  const references = new Set(texts.flatMap(spellingsOf).filter(isReference));
  const asked = { ids: [...ids], references: [...references] };
  const orders = await client.findOrders(asked, { signal: signal ?? ending.signal });
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

/** @throws errors of the client library; a TimeoutError after LIMIT_MS */
async function lookUp(session: Session, text: string): Promise<Found> {
  const signal = AbortSignal.any([session.ending.signal, AbortSignal.timeout(LIMIT_MS)]);
  const [named, found] = await Promise.all([
    ordersNamed(session, [text], { signal }),
    beginningWith(session, text.trim(), signal),
  ]);
  const spellings = spellingsOf(text);
  const beginning = found.filter(({ reference }) => !spellings.includes(reference!));
  return { text, ...named.get(text)!, beginning };
}

async function beginningWith(
  { client }: Session,
  text: string,
  signal: AbortSignal,
): Promise<readonly OrderRecord[]> {
  try {
    const query = { referencePrefix: text, limit: MAX_HITS + 1 };
    return (await client.listOrders(query, { signal })).orders;
  } catch (error) {
    // No reference can be such a text.
    if (error instanceof InvalidRequestError) return [];
    throw error;
  }
}

/** The search box: looks up what is typed or scanned. */
export class Search {
  readonly #screen: Screen;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Takes a text, and looks it up if none follows it soon. */
  type(text: string): void {
    clearTimeout(this.#timer);
    this.#screen.change((state) =>
      Object.assign(state, { search: text, searchProblem: undefined }),
    );
    if (text.trim() !== '') this.#timer = setTimeout(() => void this.find(text), TYPED_MS);
  }

  /** Resolves to the orders that the text means; undefined if they could not be read, or if the text has changed by then. */
  async find(text: string): Promise<Found | undefined> {
    clearTimeout(this.#timer);
    const screen = this.#screen;
    const { session, found: before } = screen.state;
    if (session === undefined || before?.text === text) return before;
    try {
      const found = await lookUp(session, text);
      if (screen.state.search !== text) return undefined;
      screen.change((state) => Object.assign(state, { found, searchProblem: undefined }));
      return found;
    } catch (error) {
      const searchProblem = screen.problemOf(session, error);
      if (screen.state.search === text)
        screen.change((state) => Object.assign(state, { searchProblem }));
      return undefined;
    }
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
