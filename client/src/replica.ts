import type { Batch, FollowOptions } from './changes.ts';
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

  let isWhole = false;
  const copied = (): Copy => ({ orders, revision, changes: undefined });
  if (cursors.size === 1) {
    isWhole = true;
    yield copied();
  }
  for await (const { changes } of client.changes({
    ...options,
    after: after!,
  }) as AsyncIterable<Batch>) {
    for (const { order } of changes) orders.set(order.id, order);
    const reached = changes.at(-1)!.revision;
    if (isWhole) {
      revision = reached;
      yield { orders, revision, changes };
    } else if (reached >= revision) {
      revision = reached;
      isWhole = true;
      yield copied();
    }
  }
}
