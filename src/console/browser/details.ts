import { searchOf } from './query.ts';
import type { Screen } from './screen.ts';
import type { Detail } from './state.ts';

/** Opens the details of the order in the view, or closes those of the order `before`, and moves the focus along. */
export async function showDetails(screen: Screen, before: bigint | undefined): Promise<void> {
  const { order: id } = screen.state.view;
  screen.change((state) => {
    state.detail =
      id === undefined ? undefined : { id, order: undefined, events: [], problem: undefined };
  });
  const link = `a[href="${searchOf({ ...screen.state.view, order: before })}"]`;
  const target = id === undefined ? `tbody ${link}` : 'aside';
  await screen.focus(target);
  if (id !== undefined) await readDetails(screen);
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
    });
  const { signal } = session.ending;
  try {
    // First the order: the history then has what has become of it at least.
    const order = await session.client.getOrder(id, { signal });
    const { events } = await session.client.getOrderHistory(id, { signal });
    show({ order, events, problem: undefined });
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) show({ problem });
  }
}
