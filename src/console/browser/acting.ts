import type { ChangeResult } from '@store-orders/client';
import { codeInWords } from './format.ts';
import type { Screen } from './screen.ts';
import type { Session } from './session.ts';

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

/** Cancels or ships orders, and shows a result for each; ends with the session. */
export async function runBulkAction(
  screen: Screen,
  session: Session,
  bulkAction: BulkAction,
): Promise<void> {
  const { action, ids } = bulkAction;
  screen.change((state) => Object.assign(state, { isActing: true, outcome: undefined }));
  let seen = 0;
  let done = 0;
  /** Shows the results that are new. */
  const show = (results: readonly ChangeResult[]) => {
    const found = results.slice(seen);
    seen = results.length;
    done += found.filter(({ order }) => order !== undefined).length;
    screen.change((state) => {
      const changed = new Map(found.map(({ id, order }) => [id, order]));
      state.orders = state.orders.map((each) => changed.get(each.id) ?? each);
      for (const { id, error } of found) {
        const result = error === undefined ? `It is ${DONE[action]} now.` : codeInWords(error.code);
        state.results.set(id, result);
        state.selected.delete(id);
      }
    });
  };
  try {
    if (ids.length === 1) show([await actOnOne(session, bulkAction)]);
    else await actOnAll(session, bulkAction, show);
  } catch (error) {
    const problem = screen.problemOf(session, error) ?? '';
    screen.change(({ results, selected }) => {
      for (const id of ids.slice(seen)) {
        results.set(id, problem);
        selected.delete(id);
      }
    });
  }
  if (session.ending.signal.aborted) return;
  const failed = ids.length - done;
  const outcome = `${done} ${DONE[action]}${failed === 0 ? '' : `, ${failed} not`}`;
  screen.change((state) => Object.assign(state, { isActing: false, outcome }));
}

async function actOnOne(
  { client, ending }: Session,
  { action, ids: [id], ifMatch }: BulkAction,
): Promise<ChangeResult> {
  const options = { ifMatch, signal: ending.signal };
  const order = await (action === 'cancel'
    ? client.cancelOrder(id!, options)
    : client.shipOrder(id!, options));
  return { id: id!, order };
}

/** One request for each thousand. */
async function actOnAll(
  { client, ending }: Session,
  { action, ids }: BulkAction,
  onProgress: (results: readonly ChangeResult[]) => void,
): Promise<void> {
  const options = { signal: ending.signal, onProgress };
  await (action === 'cancel' ? client.cancelOrders(ids, options) : client.shipOrders(ids, options));
}
