import type { OrderRecord } from '@store-orders/client';
import { clockTime } from '../format.ts';
import { searchOf } from '../list/address.ts';
import { showOrder } from '../list/list-state.ts';
import type { Screen } from '../screen.ts';
import { type Detail, type State, WORDS } from '../state.ts';

/** Opens the details of the order in the view, or closes those of the order `before`, and moves the focus along. */
export async function showDetails(screen: Screen, before: bigint | undefined): Promise<void> {
  const { order: id, ...view } = screen.state.view;
  screen.change((state) => {
    // The list's state of the order, until it has been read.
    const order = state.orders.find((each) => each.id === id);
    state.detail = id === undefined ? undefined : newDetail(id, order);
    if (id !== undefined) state.current = id;
  });
  const link = `a[href="${searchOf({ ...view, order: before })}"]`;
  if (id === undefined) await screen.focus(`tbody ${link}`);
  else await screen.focus('.details h2');
  if (id !== undefined) await readDetails(screen);
}

const newDetail = (id: bigint, order: OrderRecord | undefined): Detail => ({
  id,
  order,
  events: [],
  others: undefined,
  problem: undefined,
  failure: undefined,
});

/** Closes the dialog if its order is no longer pending. */
function endQuestion(state: State, order: OrderRecord | undefined): void {
  const { dialog } = state;
  if (dialog?.kind !== 'one' || dialog.isActing || order?.status === 'pending') return;
  if (order === undefined || dialog.order.id !== order.id || dialog.failure !== undefined) return;
  const { action } = dialog;
  const title = `Not ${WORDS[action].done}: it is ${order.status} since ${clockTime(new Date(order.updatedAt))}`;
  state.dialog = { ...dialog, failure: { action, title, text: '', isRetryable: false } };
}

/** Reads the order whose details are open, and its history. */
export async function readDetails(screen: Screen): Promise<void> {
  const { session, detail } = screen.state;
  if (detail === undefined || session === undefined) return;
  const { id } = detail;
  const show = (found: Partial<Detail>) =>
    screen.change((state) => {
      if (state.session !== session || state.detail?.id !== id) return;
      // Responses can overtake each other.
      const isOlder =
        found.order && state.detail.order && found.order.revision < state.detail.order.revision;
      if (!isOlder) state.detail = { ...state.detail, ...found };
      if (found.order !== undefined) showOrder(state, found.order);
      endQuestion(state, found.order);
    });
  const { signal } = session.ending;
  try {
    // The order first, so that the history is at least as recent.
    const order = await session.client.getOrder(id, { signal });
    const { events } = await session.client.getOrderHistory(id, { signal });
    show({ order, events, problem: undefined });
    const { petId } = order;
    if (petId !== undefined)
      show({ others: await session.client.countOrders({ petId }, { signal }) });
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) show({ problem });
  }
}
