import type { Screen } from './screen.ts';
import type { Session } from './session.ts';

/** Orders that are cancelled or shipped at the same time. */
const AT_ONCE = 4;

export interface BulkAction {
  readonly action: 'cancel' | 'ship';
  readonly ids: readonly bigint[];
  /** The ETag that the order must still have; for one order. */
  readonly ifMatch?: string | undefined;
}

const DONE = { cancel: 'cancelled', ship: 'shipped' } as const;

/** Asks once more: a change cannot be undone. */
export function isConfirmed({ action, ids }: BulkAction): boolean {
  const orders = ids.length === 1 ? `order ${ids[0]}` : `${ids.length} orders`;
  const verb = action === 'cancel' ? 'Cancel' : 'Ship';
  return confirm(`${verb} ${orders}? This cannot be undone.`);
}

/** Cancels or ships orders, some at a time, and shows a result for each; ends with the session. */
export async function runBulkAction(
  screen: Screen,
  session: Session,
  bulkAction: BulkAction,
): Promise<void> {
  screen.change((state) => Object.assign(state, { isActing: true, outcome: undefined }));
  const left = [...bulkAction.ids];
  let done = 0;
  const actOnSome = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      const problem = await problemActing(screen, session, { ...bulkAction, id });
      if (session.ending.signal.aborted) return;
      if (problem === undefined) done += 1;
      const result = problem ?? `It is ${DONE[bulkAction.action]} now.`;
      screen.change(({ results, selected }) => {
        results.set(id!, result);
        selected.delete(id!);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, actOnSome));
  if (session.ending.signal.aborted) return;
  const failed = bulkAction.ids.length - done;
  const outcome = `${done} ${DONE[bulkAction.action]}${failed === 0 ? '' : `, ${failed} not`}`;
  screen.change((state) => Object.assign(state, { isActing: false, outcome }));
}

/** Cancels or ships an order. Returns why it could not, in words; undefined if it is done. */
async function problemActing(
  screen: Screen,
  session: Session,
  { action, id, ifMatch }: Pick<BulkAction, 'action' | 'ifMatch'> & { readonly id: bigint },
): Promise<string | undefined> {
  const { client, ending } = session;
  const options = { ifMatch, signal: ending.signal };
  try {
    const order = await (action === 'cancel'
      ? client.cancelOrder(id, options)
      : client.shipOrder(id, options));
    screen.change((state) => {
      state.orders = state.orders.map((each) => (each.id === id ? order : each));
    });
    return undefined;
  } catch (error) {
    return screen.problemOf(session, error) ?? '';
  }
}
