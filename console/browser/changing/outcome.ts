import type { OrderRecord } from '@store-orders/client';
import { now } from '../clock.ts';
import { clockTime } from '../format.ts';
import { type Action, type Failure, type State, WORDS } from '../state.ts';

/**
 * Returns why an action has not changed an order; undefined if it has, or if the order is pending and nothing is known to have failed.
 * @param order as it was read now; undefined if it could not be read
 * @param reason why the outcome was not known; undefined if it was
 */
export function failureAt(
  action: Action,
  order: OrderRecord | undefined,
  reason: string | undefined,
): Failure | undefined {
  const { done } = WORDS[action];
  const retryable = (title: string, text: string) => ({
    ...{ action, title: `${title}; safe to retry`, text: `${reason} ${text}`, reason },
    isRetryable: true,
  });
  if (order === undefined)
    return retryable(`Not known whether it was ${done}`, 'The order could not be read either.');
  const { status, updatedAt } = order;
  if (status === 'pending' && reason === undefined) return undefined;
  if (status === 'pending')
    return retryable(`Not ${done}`, `Still pending when read again at ${clockTime(now())}.`);
  // The change took effect, but its response was lost.
  if (status === done && reason !== undefined) return undefined;
  const title = `Not ${done}: it was already ${status} at ${clockTime(updatedAt)}`;
  return { action, title, text: '', isRetryable: false };
}

/** Completes what is reported of actions on an order whose outcome was not known, and answers a question about one that is no longer pending, or takes it out of a question about several. */
export function settle(state: State, order: OrderRecord): void {
  const { detail, dialog, bulk } = state;
  if (detail?.id === order.id && detail.failure?.reason !== undefined) {
    const { action, reason } = detail.failure;
    state.detail = { ...detail, failure: failureAt(action, order, reason) };
  }
  if (dialog?.kind === 'one' && dialog.order.id === order.id && !dialog.isActing) {
    const { action, failure: before } = dialog;
    const failure =
      before !== undefined && before.reason === undefined
        ? before
        : failureAt(action, order, before?.reason);
    const isDone = before !== undefined && failure === undefined;
    state.dialog = isDone ? undefined : { ...dialog, failure };
  }
  if (dialog?.kind === 'several' && order.status !== 'pending' && dialog.ids.includes(order.id)) {
    const ids = dialog.ids.filter((id) => id !== order.id);
    state.dialog = { ...dialog, ids, ended: [...dialog.ended, order.id] };
  }
  const reason = bulk?.results.get(order.id)?.reason;
  if (bulk === undefined || reason === undefined) return;
  const { id } = order;
  const failure = failureAt(bulk.action, order, reason);
  if (failure === undefined) bulk.results.set(id, { id, kind: 'done', text: '' });
  else if (failure.isRetryable)
    bulk.results.set(id, { id, kind: 'failed', text: failure.text, reason });
  else bulk.results.set(id, { id, kind: 'fact', text: failure.title });
}
