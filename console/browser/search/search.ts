import { InvalidRequestError, type OrderRecord } from '@store-orders/client';
import { parseWrittenId } from '../list/address.ts';
import { readOrders } from '../list/matching-orders.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Found } from '../state.ts';

/** How long a lookup may take. */
const LIMIT_MS = 1_500;
/** How long the search waits after a key before it looks up the text. */
const TYPED_MS = 150;
/** Orders that are shown with the same reference, which several keys can have used, and with references that begin with the text. */
export const MAX_HITS = 5;

/** The orders that a text names as a whole: by its id, or by its reference. */
export const namedBy = ({ byId, exact }: Omit<Found, 'text'>): readonly OrderRecord[] =>
  byId === undefined ? exact : [byId, ...exact.filter(({ id }) => id !== byId.id)];

/** @throws errors of the client library; a TimeoutError after LIMIT_MS */
async function lookUp({ client, ending }: Session, text: string): Promise<Found> {
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(LIMIT_MS)]);
  const ordersWith = async (filter: { reference: string } | { referencePrefix: string }) => {
    try {
      return (await client.listOrders({ ...filter, limit: MAX_HITS + 1 }, { signal })).orders;
    } catch (error) {
      // No reference can be such a text.
      if (error instanceof InvalidRequestError) return [];
      throw error;
    }
  };
  const id = parseWrittenId(text);
  const trimmed = text.trim();
  const [[byId], exact, spaced, beginning] = await Promise.all([
    readOrders(client, id === undefined ? [] : [id], signal),
    ordersWith({ reference: trimmed }),
    // Blanks are often pasted along, but can be part of a reference.
    text === trimmed ? [] : ordersWith({ reference: text }),
    ordersWith({ referencePrefix: trimmed }),
  ]);
  const others = beginning.filter(({ reference }) => ![text, trimmed].includes(reference!));
  return { text, byId, exact: [...spaced, ...exact], beginning: others };
}

/** Returns the orders that a scanned or pasted text names as a whole: never by a part of a reference. @throws as lookUp */
export async function namedOrders(session: Session, text: string): Promise<readonly OrderRecord[]> {
  return namedBy(await lookUp(session, text));
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
  const found = await namedOrders(state.session, text).catch(() => []);
  return found.some(({ reference }) => reference === text) ? text : trimmed;
}
