import type { Position } from '../../../protocol/history.ts';
import type { DeliveryState, Webhook } from '../../domain/webhook.ts';
import type { RecordedDelivery } from '../../store/commands.ts';

/** An endpoint that takes longer to answer is in the slow lane, as is one that has failed. */
const SLOW_MS = 1_000;
/** How often the position of a webhook is saved while it only passes changes that it does not want. */
const EXAMINED_SAVED_MS = 2_000;

/**
 * A webhook in the memory of the node that delivers it. The copy is in one of these states:
 *
 *     current    as in the store, except for what is unsaved
 *     outdated   another node or a client has changed the webhook: nothing is sent until it is read again
 *     lost       outdated, because the feed does not have the position of the copy
 *     reread     read again after it was lost: if the feed does not have this position either, the webhook is paused
 *
 * and has one of these to be saved:
 *
 *     nothing
 *     examined   only that changes were passed that are not wanted; saved EXAMINED_SAVED_MS after the last save
 *     progress   a delivery began or was answered, or the webhook was paused; saved at once
 */
export class Endpoint {
  #webhook: Webhook;
  #copy: 'current' | 'outdated' | 'lost' | 'reread' = 'current';
  #unsaved: 'nothing' | 'examined' | 'progress' = 'nothing';
  /** The position in the store, as far as this node knows. */
  #known: RecordedDelivery['known'];
  /** By performance.now(), as the other times here. */
  #outdatedAt = Number.NEGATIVE_INFINITY;
  #savedAt = performance.now();
  /** Undefined unless the last attempt was interrupted by an error of the store. */
  #retryAt: number | undefined;
  /** When the delivery was sent that is not answered yet. */
  #sentAt: number | undefined;
  /** Whether the last delivery failed or took long, or a long history is read. */
  #isSlow: boolean;
  /** Whether an attempt to deliver is running. */
  isBusy = false;
  /** Whether it was deleted or paused, or is no longer for this node. */
  isRemoved = false;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
    this.#known = webhook;
    this.#isSlow = webhook.failures > 0;
  }

  get webhook(): Webhook {
    return this.#webhook;
  }

  /** The command that saves it. */
  get recorded(): RecordedDelivery {
    return { id: this.#webhook.id, known: this.#known, state: this.#webhook };
  }

  /** An endpoint changes to the slow lane as soon as its answer takes longer than SLOW_MS. */
  get lane(): 'fast' | 'slow' {
    return this.#isSlow || this.#hasTakenLong() ? 'slow' : 'fast';
  }

  #hasTakenLong(): boolean {
    return this.#sentAt !== undefined && performance.now() - this.#sentAt > SLOW_MS;
  }

  sent(): void {
    this.#sentAt = performance.now();
  }

  answered(isAccepted: boolean): void {
    this.#isSlow = !isAccepted || this.#hasTakenLong();
    this.#sentAt = undefined;
  }

  /** Whether deliveries may be sent. */
  get isActive(): boolean {
    const isPaused = this.#webhook.pauseReason !== undefined;
    return !this.isRemoved && !isPaused && this.#isReliable();
  }

  #isReliable(): boolean {
    return this.#copy === 'current' || this.#copy === 'reread';
  }

  get mayRetry(): boolean {
    return this.#retryAt === undefined || performance.now() >= this.#retryAt;
  }

  /** An error of the store has ended the attempt. @returns whether it is the first error in a row */
  interrupted(retryMs: number): boolean {
    const isFirst = this.#retryAt === undefined;
    this.#retryAt = performance.now() + retryMs;
    return isFirst;
  }

  /** The attempt has ended without an error of the store. */
  ended(): void {
    this.#retryAt = undefined;
  }

  /** Takes over the changes of clients and of other nodes. @param readAt when the read of the webhook began, by performance.now() */
  offer(read: Webhook, readAt: number): void {
    if (!this.#isReliable()) {
      // An earlier read can have found the same outdated webhook.
      if (!this.isBusy && readAt >= this.#outdatedAt) this.#replace(read);
      return;
    }
    const isAhead =
      read.version === this.#webhook.version &&
      (this.isBusy || this.#unsaved !== 'nothing' || this.#savedAt >= readAt);
    if (isAhead) {
      const { url, description, keyName, generation, rotatedAt } = read;
      this.#webhook = { ...this.#webhook, url, description, keyName, generation, rotatedAt };
    } else if (!this.isBusy) this.#replace(read);
  }

  #replace(read: Webhook): void {
    this.#webhook = read;
    this.#known = read;
    this.#unsaved = 'nothing';
    if (this.#copy === 'lost') this.#copy = 'reread';
    else if (this.#copy === 'outdated') this.#copy = 'current';
  }

  /** Whether the webhook is to be read again before anything is sent. */
  get isOutdated(): boolean {
    return !this.#isReliable() && !this.isBusy;
  }

  /** Another node may have delivered, or a client has changed the webhook. */
  overtaken(): void {
    this.#copy = 'outdated';
    this.#outdatedAt = performance.now();
    this.#unsaved = 'nothing';
  }

  /**
   * The feed does not have the position. A failover may have lost the history of a position that is only in memory, so the webhook is read again.
   * @returns whether that was done, and the position in the store is missing too
   */
  positionIsMissing(): boolean {
    if (this.#copy === 'reread') return true;
    this.overtaken();
    this.#copy = 'lost';
    return false;
  }

  /** No change up to a position is wanted, so there is nothing to send up to there. @param isMore whether there are further changes to examine */
  examinedUpTo(examined: Position, isMore: boolean): void {
    this.#change({ examined, sendingTo: undefined });
    if (this.#unsaved === 'nothing') this.#unsaved = 'examined';
    // A long history also counts as slow.
    if (isMore) this.#isSlow = true;
  }

  /** Changes the state in memory. */
  advance(state: Partial<DeliveryState>): void {
    this.#change(state);
    this.#unsaved = 'progress';
  }

  #change(state: Partial<DeliveryState>): void {
    this.#webhook = { ...this.#webhook, ...state };
    if (this.#copy === 'reread') this.#copy = 'current';
  }

  /** The state was stored. */
  saved({ state: { position, sendingTo } }: RecordedDelivery): void {
    this.#unsaved = 'nothing';
    this.#savedAt = performance.now();
    this.#known = { version: this.#webhook.version, position, sendingTo };
  }

  get isToBeSaved(): boolean {
    if (this.#unsaved === 'examined') return performance.now() - this.#savedAt >= EXAMINED_SAVED_MS;
    return this.#unsaved === 'progress';
  }
}
