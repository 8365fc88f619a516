import { LimitError, OrderChangedError, type OrderRecord } from '@store-orders/client';
import { now } from '../clock.ts';
import { readDetails } from '../details.ts';
import { clockTime, codeInWords, inWords, isRefusal, reasonIn } from '../format.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import { namedBy, ordersNamed } from '../search/search.ts';
import type { Session } from '../sign-in.ts';
import {
  type Action,
  type Detail,
  type Dialog,
  type Failure,
  type SeveralToChange,
  WORDS,
} from '../state.ts';
import { changeSeveral, outcomeOf } from './change-in-bulk.ts';

/** A change of more orders than this is confirmed by typing their number. */
const MAX_UNASKED = 1_000;

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
      const failure = await mistakenCode(this.#screen, session, dialog);
      if (failure !== undefined) this.#screen.toast(`${failure.title}. ${failure.text}`, true);
      if (failure !== undefined || this.#screen.state.dialog !== dialog) return;
      this.#screen.change((state) => (state.dialog = undefined));
      await this.changeSeveral(dialog);
    }
    if (dialog?.kind !== 'one' || session === undefined || dialog.isActing) return;
    const asked = { ...dialog, isActing: true, failure: undefined };
    this.#screen.change((state) => (state.dialog = asked));
    const failure =
      (await mistakenCode(this.#screen, session, dialog)) ??
      (await changeOne(this.#screen, session, dialog));
    // Shown before history and counts are read, which can take a while.
    const isOpen = this.#screen.state.dialog === asked;
    this.#screen.change((state) => {
      if (!isOpen) return;
      const order = state.detail?.order ?? dialog.order;
      state.dialog =
        failure === undefined ? undefined : { ...dialog, order, isActing: false, failure };
    });
    if (!isOpen && failure !== undefined)
      this.#screen.toast(`Order ${dialog.order.id}: ${failure.title}`, true);
    if (failure === undefined && dialog.isAgain && isOpen) this.#placeAgain(dialog.order);
    await this.#afterwards();
  }

  /** A scan confirms nothing: shows what it is, or how the change is confirmed. */
  async refuseScan(): Promise<void> {
    const { dialog, session } = this.#screen.state;
    const text = 'A scan does not confirm. Press Enter once more, or the button.';
    if (dialog?.kind !== 'one' || session === undefined) {
      this.#screen.toast(text, true);
      return;
    }
    if (dialog.isActing) return;
    const { action } = dialog;
    const title = `Not ${WORDS[action].done}`;
    const failure = (await mistakenCode(this.#screen, session, dialog)) ?? {
      action,
      title,
      text,
      isRetryable: true,
    };
    this.#screen.change((state) => {
      if (state.dialog === dialog) state.dialog = { ...dialog, failure };
    });
  }

  /** Changes several orders, with the progress in the bar, which has the focus. */
  async changeSeveral(asked: SeveralToChange): Promise<void> {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    const changing = changeSeveral(this.#screen, session, asked);
    await this.#screen.focus('.bulk');
    await changing;
    await this.#afterwards();
  }

  async retryFailed(): Promise<void> {
    const { bulk } = this.#screen.state;
    if (bulk === undefined || bulk.isRunning) return;
    const { failed, untried } = outcomeOf(bulk);
    const ids = [...failed, ...untried].map(({ id }) => id);
    await this.changeSeveral({ ...bulk, ids });
  }
}

/** What is to become of an order. */
type Asked = Dialog & { readonly kind: 'one' };

/** With Caps Lock, a scanner types the other case of each letter. */
const inOtherCase = (text: string) =>
  text.replaceAll(/\p{L}/gu, (each) =>
    each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase(),
  );

/** Refuses a tracking number, or a reason, that is the id or the reference of an order: a slip was scanned. It refuses also if that is not known. */
async function mistakenCode(
  screen: Screen,
  session: Session,
  { action, given }: Pick<Asked, 'action' | 'given'>,
): Promise<Failure | undefined> {
  if (given.trim() === '' || !session.may.read) return undefined;
  const failure = (title: string, text: string): Failure => ({
    ...{ action, title: `Not ${WORDS[action].done}${title}`, text, isRetryable: true },
  });
  try {
    const spellings = [given, given.toUpperCase(), given.toLowerCase(), inOtherCase(given)];
    const found = await ordersNamed(session, spellings);
    const [order] = spellings.flatMap((each) => namedBy(found.get(each)!));
    if (order === undefined) return undefined;
    const what = given.trim() === String(order.id) ? 'id' : 'reference';
    return failure(
      `: this is an order’s ${what}`,
      `${given.trim()} is ${what === 'id' ? '' : 'the reference of '}order ${order.id}. ${action === 'ship' ? 'Scan the label of the carrier, or clear the field.' : 'Clear the field, or write a reason.'}`,
    );
  } catch (error) {
    const reason = screen.problemOf(session, error);
    return reason === undefined ? undefined : failure('; safe to retry', reason);
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
  const options = { ifMatch: etag, signal: ending.signal };
  const text = given.trim() || undefined;
  try {
    const order = await (action === 'cancel'
      ? client.cancelOrder(id, { ...options, reason: text && reasonIn(text) })
      : client.shipOrder(id, { ...options, trackingNumber: text }));
    show(screen, id, { order, failure: undefined });
    screen.toast(`Order ${id} was ${WORDS[action].done}`);
    return undefined;
  } catch (error) {
    if (screen.problemOf(session, error) === undefined) return undefined;
    const failure = await failureOf(screen, session, { action, id, error });
    show(screen, id, { failure });
    return failure;
  }
}

/** Shows an order as it is now, or the outcome of an action, if its details are open. */
const show = (screen: Screen, id: bigint, found: Partial<Detail>) =>
  screen.change((state) => {
    if (found.order !== undefined) showOrder(state, found.order);
    if (state.detail?.id === id) state.detail = { ...state.detail, ...found };
  });

/** Reads the order again, to report its state. */
async function failureOf(
  screen: Screen,
  { client, ending }: Session,
  { action, id, error }: { readonly action: Action; readonly id: bigint; readonly error: unknown },
): Promise<Failure | undefined> {
  const { done } = WORDS[action];
  const failure = (title: string, text: string, isRetryable = true): Failure => ({
    ...{ action, title, text, isRetryable },
  });
  const order = await client.getOrder(id, { signal: ending.signal }).catch(() => undefined);
  if (order !== undefined) show(screen, id, { order });
  const at = order && clockTime(order.updatedAt);
  const wasRefused = isRefusal(error);
  if (order !== undefined && order.status !== 'pending') {
    const { status } = order;
    if (status === done && !wasRefused) {
      // The change took effect, but its response was lost.
      screen.toast(`Order ${id} was ${done}`);
      return undefined;
    }
    const what =
      status === done
        ? `it was already ${status}`
        : `it ${status === 'shipped' ? 'shipped' : `was ${status}`}`;
    return failure(`Not ${done}: ${what} at ${at}`, '', false);
  }
  if (wasRefused) {
    const isChanged = error instanceof OrderChangedError;
    const text = isChanged ? 'It is shown as it is now.' : '';
    return failure(`Not ${done}: ${codeInWords(error.code)}`, text, isChanged);
  }
  const reason = inWords(error);
  if (error instanceof LimitError) return failure(`Not ${done}`, reason);
  if (order === undefined) {
    const title = `Not known whether it was ${done}; safe to retry`;
    return failure(title, `${reason} The order could not be read either.`);
  }
  const read = `Order ${id} was still pending when it was read again at ${clockTime(now())}.`;
  return failure(`Not ${done}; safe to retry`, `${reason} ${read}`);
}
