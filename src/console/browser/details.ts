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
  // Once the change is drawn.
  await Promise.resolve();
  const link = `a[href="${searchOf({ ...screen.state.view, order: before })}"]`;
  const target = id === undefined ? `tbody ${link}` : 'aside';
  screen.element.querySelector<HTMLElement>(target)?.focus();
  if (id !== undefined) await readDetails(screen);
}

/** Reads the order whose details are open, and its history. */
export async function readDetails(screen: Screen): Promise<void> {
  const { session, detail } = screen.state;
  if (detail === undefined || session === undefined) return;
  const { id } = detail;
  const show = (found: Partial<Detail>) =>
    screen.change((state) => {
      if (state.detail?.id === id) state.detail = { ...state.detail, ...found };
    });
  try {
    const [order, { events }] = await Promise.all([
      session.client.getOrder(id),
      session.client.getOrderHistory(id),
    ]);
    show({ order, events, problem: undefined });
  } catch (error) {
    screen.failed(error, (problem) => show({ problem }));
  }
}
