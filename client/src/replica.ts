import type { FollowOptions } from './changes.ts';
import type { StoreOrders } from './client.ts';
import { GoneError } from './errors.ts';
import type { Change, OrderRecord } from './records.ts';
import { backoffMs, pause } from './retries.ts';

/** An exact copy of all orders of the store. */
export interface Copy {
  /** By id; the same map in every step. */
  readonly orders: ReadonlyMap<bigint, OrderRecord>;
  /** The latest revision in the copy. */
  readonly revision: bigint;
  /** What has changed since the step before; undefined if the copy was made anew. */
  readonly changes: readonly Change[] | undefined;
}

/** See StoreOrders.replica, and "Keeping an exact copy" in the service's docs/integrating.md. */
export async function* keepReplica(
  client: StoreOrders,
  options: Omit<FollowOptions, 'after'>,
): AsyncGenerator<Copy, void> {
  for (let failures = 0; ; failures += 1) {
    try {
      for await (const copy of copyAndFollow(client, options)) {
        failures = 0;
        yield copy;
      }
    } catch (error) {
      // The store was restored, or has lost changes.
      if (!(error instanceof GoneError)) throw error;
    }
    await pause(backoffMs(failures), options.signal);
  }
}

async function* copyAndFollow(
  client: StoreOrders,
  options: Omit<FollowOptions, 'after'>,
): AsyncGenerator<Copy, void> {
  const { signal } = options;
  const orders = new Map<bigint, OrderRecord>();
  /** The cursors of all pages; the first is where to go on. */
  const cursors = new Set<string>();
  let revision = 0n;
  for await (const page of client.pages({ limit: 500 }, { signal })) {
    for (const order of page.orders) orders.set(order.id, order);
    cursors.add(page.changes);
    revision = page.revision;
  }
  const [after] = cursors;
  // A page that shows a change that the store has lost since: 410.
  for (const cursor of cursors) await client.listChanges({ after: cursor, limit: 1 }, { signal });

  let isWhole = cursors.size === 1;
  if (isWhole) yield { orders, revision, changes: undefined };
  for await (const { changes } of client.changes({ ...options, after: after! })) {
    for (const { order } of changes) orders.set(order.id, order);
    const reached = changes.at(-1)!.revision;
    // Until the changes have reached the last page, some orders are older in the copy than they were on their page.
    if (!isWhole && reached < revision) continue;
    revision = reached;
    yield { orders, revision, changes: isWhole ? changes : undefined };
    isWhole = true;
  }
}
