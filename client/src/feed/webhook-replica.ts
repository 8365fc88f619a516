import { HistoryMismatchError, StoreOrdersError } from '../errors.ts';
import type { WebhookDelivery } from '../webhook.ts';
import type { ReplicaPosition, ReplicaStore } from './replica.ts';
import { type Verify, verifying } from './verify-history.ts';

/** Changes are missing between the copy and a delivery, or the store was restored: call `catchUp`, then accept the delivery. */
export class WebhookGapError extends StoreOrdersError {
  override readonly name = 'WebhookGapError';
}

/** A StoreOrders. */
interface CatchingUp {
  catchUp(options: {
    readonly store: ReplicaStore;
    readonly verify?: boolean | undefined;
  }): Promise<ReplicaPosition>;
}

/**
 * Applies verified deliveries, of a webhook without filters, to the copy in a `ReplicaStore`, which `catchUp` has made. Deliveries may
 * be repeated and arrive at the same time; each is applied once, with its cursor, in one transaction.
 */
export class WebhookReplica {
  readonly #store: ReplicaStore;
  readonly #verify: Verify | undefined;
  readonly #wanted: boolean | undefined;
  #position: ReplicaPosition | undefined;
  /** Resolves when the earlier deliveries are applied. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param options.verify as of `replica()` */
  constructor(store: ReplicaStore, { verify }: { readonly verify?: boolean | undefined } = {}) {
    this.#store = store;
    this.#verify = verifying(verify);
    this.#wanted = verify;
  }

  /**
   * @returns whether the delivery was applied; false if the copy has its changes already
   * @throws WebhookGapError, HistoryMismatchError, and the errors of the store
   */
  apply(delivery: WebhookDelivery): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        return await this.#apply(delivery);
      } catch (error) {
        // Another call, such as `catchUp`, writes the copy before the next delivery.
        if (error instanceof WebhookGapError) this.#position = undefined;
        throw error;
      }
    });
  }

  /**
   * Brings the copy up to date after a WebhookGapError, including the changes of that delivery. Deliveries that arrive before it ends wait.
   * @throws the errors of `StoreOrders.catchUp`
   */
  catchUp(client: CatchingUp): Promise<void> {
    return this.#inTurn(async () => {
      this.#position = await client.catchUp({ store: this.#store, verify: this.#wanted });
    });
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const running = this.#last.then(run);
    this.#last = running.catch(() => {});
    return running;
  }

  async #apply(delivery: WebhookDelivery): Promise<boolean> {
    this.#position ??= await this.#store.load();
    const position = this.#position;
    if (position === undefined) throw new WebhookGapError('there is no copy yet');
    const { after, changes, next: cursor } = delivery;
    const from = after === position.cursor ? 0 : await this.#overlap(delivery, position.cursor);
    if (from === undefined) return false;
    const rest = changes.slice(from);
    await this.#verify?.(NO_REQUEST, { after: position.cursor, changes: rest, cursor });
    const moved = { cursor, revision: rest.at(-1)?.revision ?? position.revision };
    await this.#store.apply(
      rest.map(({ order }) => order),
      moved,
    );
    this.#position = moved;
    return true;
  }

  /**
   * Returns how many changes of a delivery the copy has already; undefined if it has all of them.
   * @param own the cursor of the copy
   * @throws WebhookGapError
   */
  async #overlap(
    { after, changes, next, revision }: WebhookDelivery,
    own: string,
  ): Promise<number | undefined> {
    const at = revisionOf(own);
    const gap = `the copy is at ${own}, the changes continue ${after}`;
    // The store is behind the copy, or has another head at the same revision: it was restored, and its changes differ.
    const isRestored = revision < at || (revisionOf(next) === at && next !== own);
    if (isRestored) throw new WebhookGapError(gap);
    if (revisionOf(next) <= at) return undefined;
    if (revisionOf(after) >= at) throw new WebhookGapError(gap);
    const known = changes.filter((change) => change.revision <= at);
    try {
      await this.#verify?.(NO_REQUEST, { after, changes: known, cursor: own });
    } catch (error) {
      if (!(error instanceof HistoryMismatchError)) throw error;
      throw new WebhookGapError(gap, { cause: error });
    }
    return known.length;
  }
}

/** Deliveries are no responses to requests of this client. */
const NO_REQUEST = { requestId: undefined };

/** The revision of a cursor, which is REVISION-HEAD; a cursor of another form counts as earlier than all others. */
function revisionOf(cursor: string): bigint {
  const [, digits] = /^(\d{1,19})-/.exec(cursor) ?? [];
  return digits === undefined ? -1n : BigInt(digits);
}
