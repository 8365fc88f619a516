import { StoreOrdersError } from '../errors.ts';
import type { WebhookDelivery } from '../webhook.ts';
import { type Verify, verifying } from './heads.ts';
import type { ReplicaPosition, ReplicaStore } from './replica.ts';

/** Changes are missing between the copy and a delivery: bring the copy up to date with `replica()`, then accept deliveries again. */
export class WebhookGapError extends StoreOrdersError {
  override readonly name = 'WebhookGapError';
}

/**
 * Applies verified deliveries, of an endpoint without filters, to the copy in a `ReplicaStore`, which `replica()` has made. Deliveries may
 * be repeated and arrive at the same time; each is applied once, with its cursor, in one transaction.
 */
export class WebhookReplica {
  readonly #store: ReplicaStore;
  readonly #verify: Verify | undefined;
  #position: ReplicaPosition | undefined;
  /** The deliveries before. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param options.verify as of `replica()` */
  constructor(store: ReplicaStore, { verify }: { readonly verify?: boolean | undefined } = {}) {
    this.#store = store;
    this.#verify = verifying(verify);
  }

  /**
   * @returns whether the delivery was applied; false if the copy has its changes already
   * @throws WebhookGapError, HistoryMismatchError, and the errors of the store
   */
  apply(delivery: WebhookDelivery): Promise<boolean> {
    const applying = this.#last.then(() => this.#apply(delivery));
    this.#last = applying.catch(() => {});
    return applying;
  }

  async #apply({ after, changes, next: cursor, revision }: WebhookDelivery): Promise<boolean> {
    this.#position ??= await this.#store.load();
    const position = this.#position;
    if (position === undefined) throw new WebhookGapError('there is no copy yet');
    if (after !== position.cursor) {
      // A store that is before the copy was restored, and its changes are others.
      const isRepetition = revision >= revisionOf(position.cursor);
      if (isRepetition && revisionOf(cursor) <= revisionOf(position.cursor)) return false;
      throw new WebhookGapError(`the copy is at ${position.cursor}, the changes continue ${after}`);
    }
    await this.#verify?.({ requestId: undefined }, { after, changes, cursor });
    const moved = { cursor, revision: changes.at(-1)?.revision ?? position.revision };
    await this.#store.apply(
      changes.map(({ order }) => order),
      moved,
    );
    this.#position = moved;
    return true;
  }
}

/** The revision of a cursor, which is REVISION-HEAD; a cursor of another form is before all others. */
function revisionOf(cursor: string): bigint {
  const [, digits] = /^(\d{1,19})-/.exec(cursor) ?? [];
  return digits === undefined ? -1n : BigInt(digits);
}
