import type { Screen } from './screen.ts';
import type { Session } from './session.ts';

/** Orders that are cancelled or shipped at the same time. */
const AT_ONCE = 4;

export interface Deed {
  readonly action: 'cancel' | 'ship';
  readonly ids: readonly bigint[];
  /** The ETag that the order must still have; for one order. */
  readonly ifMatch?: string | undefined;
}

/** Cancels or ships orders, some at a time, and shows a result for each. */
export async function act(screen: Screen, session: Session, deed: Deed): Promise<void> {
  screen.change((state) => Object.assign(state, { isActing: true }));
  const left = [...deed.ids];
  const actOnSome = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const result = await actOn(screen, session, { ...deed, id });
      screen.change(({ results, selected }) => {
        results.set(id!, result);
        selected.delete(id!);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, actOnSome));
  screen.change((state) => Object.assign(state, { isActing: false }));
}

/** Returns the result in words. */
async function actOn(
  screen: Screen,
  { client }: Session,
  { action, id, ifMatch }: Pick<Deed, 'action' | 'ifMatch'> & { readonly id: bigint },
): Promise<string> {
  try {
    const order = await (action === 'cancel'
      ? client.cancelOrder(id, { ifMatch })
      : client.shipOrder(id, { ifMatch }));
    screen.change((state) => {
      state.orders = state.orders.map((each) => (each.id === id ? order : each));
    });
    return action === 'cancel' ? 'Cancelled now.' : 'Shipped now.';
  } catch (error) {
    let words = '';
    screen.failed(error, (problem) => {
      words = problem;
    });
    screen.change((state) => {
      if (state.detail?.id === id) state.detail = { ...state.detail, problem: words };
    });
    return words;
  }
}
