import { OrderChangedError, type OrderRecord, UnknownOutcomeError } from '@store-orders/client';
import { readDetails } from '../details.ts';
import { inWords, isRefusal, reasonIn } from '../format.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import { namedBy, ordersNamed } from '../search/search.ts';
import type { Session } from '../sign-in.ts';
import {
  type Action,
  type Bulk,
  type Dialog,
  type Failure,
  type SeveralToChange,
  WORDS,
} from '../state.ts';
import { changeSeveral, outcomeOf, readUntilKnown } from './change-in-bulk.ts';
import { failureAt } from './outcome.ts';

/** A change of more orders than this is confirmed by typing their number. */
const MAX_UNASKED = 1_000;
/** How long the store is asked to change an order, or those of one request, and to read orders before and after that: 40 seconds in all, which the question says. */
const ASKED_MS = 20_000;
const READ_MS = 10_000;
/** A connection that is refused fails at once: a number of retries would end before that time. */
const retries = Number.POSITIVE_INFINITY;

/** Whether the number of orders was typed, with any separators, if it is asked for. */
export const isConfirmed = ({ length }: readonly bigint[], typed: string): boolean =>
  length <= MAX_UNASKED || typed.replaceAll(/\D/g, '') === String(length);

/** Asks for changes of orders, and makes them. */
export class Changing {
  readonly #screen: Screen;
  /** Reads counts and history again. */
  readonly #afterwards: () => Promise<unknown>;
  /** Called with an order that was cancelled to be placed again. */
  readonly #placeAgain: (order: OrderRecord) => void;

  constructor(
    screen: Screen,
    readCounts: () => Promise<void>,
    placeAgain: (order: OrderRecord) => void,
  ) {
    this.#screen = screen;
    this.#afterwards = () => Promise.all([readDetails(screen), readCounts()]);
    this.#placeAgain = placeAgain;
  }

  /** Asks before the open order is changed. */
  ask(action: Action): void {
    const { detail, session } = this.#screen.state;
    const order = detail?.order;
    if (detail !== undefined && order === undefined && detail.problem === undefined)
      this.#screen.toast(`Order ${detail.id} is being read`);
    if (order?.status !== 'pending' || session === undefined) return;
    if (!session.may[action]) {
      this.#screen.toast(`Your key may not ${action} orders`, true);
      return;
    }
    const placed = detail!.events.find(({ type }) => type === 'placed');
    const by = placed?.byName ?? placed?.by;
    this.#screen.change((state) => {
      state.dialog = {
        ...{ kind: 'one', action, order, by, given: '', isAgain: false },
        ...{ isActing: false, failure: undefined },
      };
    });
  }

  /** Carries out the action of the dialog. */
  async confirm(): Promise<void> {
    const { dialog, session } = this.#screen.state;
    if (dialog?.kind === 'several') {
      if (!isConfirmed(dialog.ids, dialog.typed) || session === undefined) return;
      const mistaken = await mistakenCode(this.#screen, session, dialog);
      if (mistaken !== undefined)
        this.#screen.toast(`${mistaken.failure.title}. ${mistaken.failure.text}`, true);
      if (mistaken !== undefined || this.#screen.state.dialog !== dialog) return;
      this.#screen.set({ dialog: undefined });
      await this.changeSeveral(dialog);
    }
    if (dialog?.kind !== 'one' || session === undefined || dialog.isActing) return;
    const asked = { ...dialog, isActing: true, failure: undefined };
    this.#screen.set({ dialog: asked });
    const mistaken = await mistakenCode(this.#screen, session, dialog);
    const failure = mistaken?.failure ?? (await changeOne(this.#screen, session, dialog));
    // Shown before history and counts are read, which can take a while.
    const isOpen = this.#screen.state.dialog === asked;
    this.#screen.change((state) => {
      if (!isOpen) return;
      const order = state.detail?.order ?? dialog.order;
      state.dialog = failure === undefined ? undefined : { ...dialog, ...mistaken, order, failure };
    });
    if (!isOpen && failure !== undefined)
      this.#screen.toast(`Order ${dialog.order.id}: ${failure.title}`, true);
    if (failure === undefined && dialog.isAgain && isOpen) this.#placeAgain(dialog.order);
    await this.#afterwards();
  }

  /** A scan confirms nothing: shows what it is, or what to do. The cursor is in the field for the next one. */
  async refuseScan(): Promise<void> {
    const { dialog, session } = this.#screen.state;
    const asked = dialog?.kind === 'one' ? dialog : undefined;
    if (asked === undefined || session === undefined || asked.isActing) {
      const text = asked?.isActing
        ? `The scan was not taken: order ${asked.order.id} has no answer yet.`
        : 'A scan does not confirm. If it was typed, press Enter once more.';
      this.#screen.toast(text, true);
      return;
    }
    const text =
      asked.action === 'ship'
        ? 'The cursor was not in the field for all of it. Scan it again.'
        : 'A scan does not confirm. Press Enter once more, or the button.';
    const failure = notDone(asked.action, '', text);
    const mistaken = (await mistakenCode(this.#screen, session, asked)) ?? { failure };
    // A person has gone on, in its field or elsewhere.
    if (this.#screen.state.dialog !== asked) return;
    this.#screen.set({ dialog: { ...asked, ...mistaken } });
    // The next scan takes the place of what is there.
    (await this.#screen.focus<HTMLInputElement>('.given input'))?.select();
  }

  /** Changes several orders, with the progress in the bar, which has the focus. */
  async changeSeveral(asked: SeveralToChange, before: Bulk['results'] = new Map()): Promise<void> {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    const changing = changeSeveral(this.#screen, session, asked, before, ASKED_MS);
    await this.#screen.focus('.bulk');
    await changing;
    await this.#afterwards();
  }

  async retryFailed(): Promise<void> {
    const { bulk } = this.#screen.state;
    if (bulk === undefined || bulk.isRunning) return;
    const ids = outcomeOf(bulk).again.map(({ id }) => id);
    await this.changeSeveral({ ...bulk, ids }, bulk.results);
  }
}

/** What is to become of an order. */
type Asked = Dialog & { readonly kind: 'one' };

/** A failure with this text. @param why added to its title */
const notDone = (action: Action, why: string, text: string, isRetryable = true): Failure => ({
  ...{ action, title: `Not ${WORDS[action].done}${why}`, text, isRetryable },
});

/** With Caps Lock, a scanner types the other case of each letter. */
const inOtherCase = (text: string) =>
  text.replaceAll(/\p{L}/gu, (each) =>
    each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase(),
  );

/**
 * Refuses a tracking number, or a reason, that is the id or the reference of an order: a slip was scanned. It refuses also if that is not known.
 * @returns the failure, and what stays in the field: nothing of a slip, to which the next scan would be appended
 */
async function mistakenCode(
  screen: Screen,
  session: Session,
  { action, given }: Pick<Asked, 'action' | 'given'>,
): Promise<(Pick<Asked, 'given'> & { readonly failure: Failure }) | undefined> {
  if (given.trim() === '' || !session.may.read) return undefined;
  try {
    const spellings = [given, given.toUpperCase(), given.toLowerCase(), inOtherCase(given)];
    const found = await ordersNamed(session, spellings, READ_MS);
    const [order] = spellings.flatMap((each) => namedBy(found.get(each)!));
    if (order === undefined) return undefined;
    const isId = given.trim() === String(order.id);
    const what = `${given.trim()} is ${isId ? '' : 'the reference of '}order ${order.id}.`;
    const next = action === 'ship' ? 'Scan the label of the carrier' : 'Write a reason';
    const why = `: this is an order’s ${isId ? 'id' : 'reference'}`;
    const text = `${what} ${next}, or leave the field empty.`;
    return { given: '', failure: notDone(action, why, text) };
  } catch (error) {
    const reason = screen.problemOf(session, error);
    return reason === undefined
      ? undefined
      : { given, failure: notDone(action, '; safe to retry', reason) };
  }
}

/**
 * Cancels or ships an order, unless it has changed since it was shown.
 * @returns the reason of a failure; undefined after a success, or if the session has ended
 */
async function changeOne(
  screen: Screen,
  session: Session,
  { action, order: { id, etag }, given }: Asked,
): Promise<Failure | undefined> {
  const { client, ending } = session;
  const options = { ifMatch: etag, signal: ending.signal, timeoutMs: ASKED_MS, retries };
  const text = given.trim() || undefined;
  const show = (order: OrderRecord | undefined, failure: Failure | undefined) => {
    screen.change((state) => {
      if (order !== undefined) showOrder(state, order);
      if (state.detail?.id === id) state.detail = { ...state.detail, failure };
    });
    if (failure === undefined) screen.toast(`Order ${id} was ${WORDS[action].done}`);
    return failure;
  };
  try {
    const order = await (action === 'cancel'
      ? client.cancelOrder(id, { ...options, reason: text && reasonIn(text) })
      : client.shipOrder(id, { ...options, trackingNumber: text }));
    return show(order, undefined);
  } catch (error) {
    if (screen.problemOf(session, error) === undefined) return undefined;
    const { id: open, failure: before } = screen.state.detail ?? {};
    // A refusal does not tell what an earlier request has done.
    const wasUnclear = open === id && before?.action === action && before.reason !== undefined;
    const reason = error instanceof UnknownOutcomeError || wasUnclear ? inWords(error) : undefined;
    const reading = { signal: ending.signal, timeoutMs: READ_MS, retries };
    const order = await client.getOrder(id, reading).catch(() => undefined);
    if (reason === undefined && (order?.status ?? 'pending') === 'pending')
      return show(order, knownFailure(action, error));
    if (order === undefined) void readUntilKnown(screen, session, [id]);
    return show(order, failureAt(action, order, reason));
  }
}

/** Why an order was not changed that is still pending, or could not be read. */
function knownFailure(action: Action, error: unknown): Failure {
  const text = inWords(error);
  if (!isRefusal(error)) return notDone(action, '; safe to retry', text);
  const isChanged = error instanceof OrderChangedError;
  return notDone(action, '', `${text}${isChanged ? ' It is shown as it is now.' : ''}`, isChanged);
}
