import {
  ConflictError,
  LimitError,
  NotFoundError,
  OrderChangedError,
  type OrderRecord,
} from '@store-orders/client';
import { now } from '../clock.ts';
import { clockTime, codeInWords, inWords, sentence } from '../format.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import { type Action, type Failure, WORDS } from '../state.ts';

/** What is to become of an order. */
interface Asked {
  readonly action: Action;
  readonly order: OrderRecord;
  /** The reason of a cancel, or the tracking number of a shipment; empty for none. */
  readonly given: string;
}

/**
 * Cancels or ships an order, unless it has changed since it was shown.
 * @returns the reason of a failure; undefined after a success, or if the session has ended
 */
export async function changeOne(
  screen: Screen,
  session: Session,
  { action, order: { id, etag }, given }: Asked,
): Promise<Failure | undefined> {
  const { client, ending } = session;
  const options = { ifMatch: etag, signal: ending.signal };
  const text = given.trim() || undefined;
  try {
    const order = await (action === 'cancel'
      ? client.cancelOrder(id, { ...options, reason: text })
      : client.shipOrder(id, { ...options, trackingNumber: text }));
    screen.change((state) => {
      showOrder(state, order);
      if (state.detail?.id === id) state.detail = { ...state.detail, order, failure: undefined };
    });
    screen.toast(`Order ${id} was ${WORDS[action].done}`);
    return undefined;
  } catch (error) {
    if (screen.problemOf(session, error) === undefined) return undefined;
    const failure = await failureOf(screen, session, { action, id, error });
    screen.change((state) => {
      if (state.detail?.id === id) state.detail = { ...state.detail, failure };
    });
    return failure;
  }
}

/** Reads the order again, to report its state. */
async function failureOf(
  screen: Screen,
  { client, ending }: Session,
  { action, id, error }: { readonly action: Action; readonly id: bigint; readonly error: unknown },
): Promise<Failure | undefined> {
  const { done } = WORDS[action];
  const order = await client.getOrder(id, { signal: ending.signal }).catch(() => undefined);
  if (order !== undefined) {
    screen.change((state) => {
      showOrder(state, order);
      if (state.detail?.id === id) state.detail = { ...state.detail, order };
    });
  }
  const at = order && clockTime(new Date(order.updatedAt));
  const wasRefused =
    error instanceof ConflictError ||
    error instanceof OrderChangedError ||
    error instanceof NotFoundError;
  if (order !== undefined && order.status !== 'pending') {
    const status = order.status;
    if (`${status}` === done && !wasRefused) {
      // The change took effect, but its response was lost.
      screen.toast(`Order ${id} was ${done}`);
      return undefined;
    }
    const what =
      status === done
        ? `it was already ${status}`
        : `it ${status === 'shipped' ? 'shipped' : `was ${status}`}`;
    return { action, title: `Not ${done}: ${what} at ${at}`, text: '', isRetryable: false };
  }
  if (wasRefused) {
    const { code } = error;
    const isChanged = error instanceof OrderChangedError;
    return {
      action,
      title: `Not ${done}: ${codeInWords(code)}`,
      text: isChanged ? 'It is shown as it is now.' : '',
      isRetryable: isChanged,
    };
  }
  const reason = inWords(error);
  if (error instanceof LimitError) {
    return { action, title: `Not ${done}`, text: reason, isRetryable: true };
  }
  if (order === undefined) {
    return {
      action,
      title: `Not known whether it was ${done}; safe to retry`,
      text: `${reason} The order could not be read either.`,
      isRetryable: true,
    };
  }
  return {
    action,
    title: `Not ${done}; safe to retry`,
    text: `${reason} ${sentence(`order ${id} was still pending when it was read again at ${clockTime(now())}`)}`,
    isRetryable: true,
  };
}
