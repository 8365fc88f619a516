import type { Position } from '../../../protocol/history.ts';
import type { DeliveryState, Webhook } from '../../domain/webhook.ts';
import type { RecordedDelivery } from '../../store/commands.ts';

/** An endpoint that takes longer to answer is in the lane of slow ones, as is one that has failed. */
const SLOW_MS = 1_000;
/** How often the place of a webhook is stored that is sent nothing, since no change is wanted. */
const EXAMINED_SAVED_MS = 2_000;

/** A webhook in the memory of the node that delivers it: its state is ahead of the one in the store while it is not saved. */
export class Endpoint {
  #webhook: Webhook;
  /** The place in the store, as this node knows it. */
  #known: RecordedDelivery['known'];
  /** Set when a save was refused: the webhook in the store is another than this one. By performance.now(). */
  #overtakenAt: number | undefined;
  #savedAt = performance.now();
  /** Set after an error of the store, by performance.now(). */
  #retryAt: number | undefined;
  #unsaved: 'nothing' | 'examined' | 'state' = 'nothing';
  /** Whether the feed does not have its place, and whether that was read from the store since. */
  #missing: 'no' | 'in memory' | 'in the store' = 'no';
  isBusy = false;
  /** Whether it was deleted or paused, or is no longer for this node. */
  isRemoved = false;
  #isSlow: boolean;
  /** When the delivery that is not answered yet was sent, by performance.now(). */
  #sentAt: number | undefined;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
    this.#known = webhook;
    this.#isSlow = webhook.failures > 0;
  }

  get webhook(): Webhook {
    return this.#webhook;
  }

  /** What is to be stored. */
  get recorded(): RecordedDelivery {
    return { id: this.#webhook.id, known: this.#known, state: this.#webhook };
  }

  /** The lane in which it has a place, or gets one. It changes lanes while it takes long to answer. */
  get lane(): 'fast' | 'slow' {
    return this.#isSlow || this.#hasTakenLong() ? 'slow' : 'fast';
  }

  #hasTakenLong(): boolean {
    return this.#sentAt !== undefined && performance.now() - this.#sentAt > SLOW_MS;
  }

  /** A delivery was sent to it. */
  sent(): void {
    this.#sentAt = performance.now();
  }

  /** It has accepted the delivery, or not. */
  answered(isAccepted: boolean): void {
    this.#isSlow = !isAccepted || this.#hasTakenLong();
    this.#sentAt = undefined;
  }

  /** Whether deliveries may be sent. */
  get isActive(): boolean {
    const isPaused = this.#webhook.pausedFor !== undefined;
    return !this.isRemoved && !isPaused && this.#overtakenAt === undefined;
  }

  get mayRetry(): boolean {
    return this.#retryAt === undefined || performance.now() >= this.#retryAt;
  }

  /** Whether the last attempt to deliver has ended with an error of the store. */
  get isInterrupted(): boolean {
    return this.#retryAt !== undefined;
  }

  interrupted(retryMs: number): void {
    this.#retryAt = performance.now() + retryMs;
  }

  continued(): void {
    this.#retryAt = undefined;
  }

  /** Takes over what clients, or other nodes, have changed. @param readAt when the read of the webhook began, by performance.now() */
  offer(read: Webhook, readAt: number): void {
    if (this.#overtakenAt !== undefined) {
      // Only what was read afterwards is sure to be newer.
      if (!this.isBusy && readAt >= this.#overtakenAt) this.#replace(read);
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
    this.#overtakenAt = undefined;
    this.#unsaved = 'nothing';
    if (this.#missing === 'in memory') this.#missing = 'in the store';
  }

  /** Whether nothing is sent before the webhook is read again. */
  get isOutdated(): boolean {
    return this.#overtakenAt !== undefined && !this.isBusy;
  }

  /** Another node may have delivered meanwhile: the webhook is to be read again. */
  overtaken(): void {
    this.#overtakenAt = performance.now();
    this.#unsaved = 'nothing';
  }

  /**
   * The feed does not have its place. A failover may have lost the history of a place that is only in memory, so the webhook is read again.
   * @returns whether that was done, and the place in the store is missing too
   */
  placeIsMissing(): boolean {
    if (this.#missing === 'in the store') return true;
    this.overtaken();
    this.#missing = 'in memory';
    return false;
  }

  /** No change up to a position is wanted, so there is nothing to send up to there. @param isMore whether there are further changes to examine */
  examinedUpTo(examined: Position, isMore: boolean): void {
    this.#webhook = { ...this.#webhook, examined, sendingTo: undefined };
    this.#missing = 'no';
    if (this.#unsaved === 'nothing') this.#unsaved = 'examined';
    // Reading a long history takes a place for long, too.
    if (isMore) this.#isSlow = true;
  }

  /** Changes the state in memory. */
  advance(state: Partial<DeliveryState>): void {
    this.#webhook = { ...this.#webhook, ...state };
    this.#missing = 'no';
    this.#unsaved = 'state';
  }

  /** The state was stored. */
  saved({ state: { position, sendingTo } }: RecordedDelivery): void {
    this.#unsaved = 'nothing';
    this.#savedAt = performance.now();
    this.#known = { version: this.#webhook.version, position, sendingTo };
  }

  /** Whether the state is to be stored now; what was only examined can wait. */
  get isToBeSaved(): boolean {
    if (this.#unsaved === 'examined') return performance.now() - this.#savedAt >= EXAMINED_SAVED_MS;
    return this.#unsaved === 'state';
  }
}
