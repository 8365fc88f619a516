import type { Moment } from '../../orders/heads.ts';
import type { DeliveryState, Webhook } from '../webhook.ts';

/** An endpoint that takes longer to answer is in the lane of slow ones, as is one that has failed. */
const SLOW_MS = 1_000;

/** A webhook in the memory of the node that delivers it: its state is ahead of the one in the store while it is not saved. */
export class Endpoint {
  #webhook: Webhook;
  /** Set by clients while a delivery was in progress: a position or filter that replaces the one in memory. */
  #isOvertaken = false;
  #savedAt = performance.now();
  /** Set after an error of the store, by performance.now(). */
  #retryAt: number | undefined;
  #unsaved: 'nothing' | 'examined' | 'state' = 'nothing';
  isBusy = false;
  /** Whether it was deleted, or is no longer for this node. */
  isRemoved = false;
  #isSlow: boolean;
  /** When the delivery that is not answered yet was sent, by performance.now(). */
  #sentAt: number | undefined;

  constructor(webhook: Webhook) {
    this.#webhook = webhook;
    this.#isSlow = webhook.failures > 0;
  }

  get webhook(): Webhook {
    return this.#webhook;
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

  get isActive(): boolean {
    return !this.isRemoved && this.#webhook.pausedFor === undefined;
  }

  /** Whether the state in memory is ahead of the one in the store. */
  get isUnsaved(): boolean {
    return this.#unsaved !== 'nothing';
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

  /** Takes over what clients have changed. @param readAt when the read of the webhook began, by performance.now() */
  offer(read: Webhook, readAt: number): void {
    const isAhead =
      read.version === this.#webhook.version &&
      !this.#isOvertaken &&
      (this.isBusy || this.isUnsaved || this.#savedAt >= readAt);
    if (isAhead) {
      const { url, description, keyName, generation, rotatedAt } = read;
      this.#webhook = { ...this.#webhook, url, description, keyName, generation, rotatedAt };
    } else if (!this.isBusy) {
      this.#webhook = read;
      this.#isOvertaken = false;
      this.#unsaved = 'nothing';
    }
  }

  /** No change up to a moment is wanted. */
  examinedUpTo(examined: Moment): void {
    this.#webhook = { ...this.#webhook, examined };
    if (this.#unsaved === 'nothing') this.#unsaved = 'examined';
  }

  /** Changes the state in memory. */
  advance(state: Partial<DeliveryState>): void {
    this.#webhook = { ...this.#webhook, ...state };
    this.#unsaved = 'state';
  }

  /** The state was stored, or was not, since clients have changed the webhook or another node delivers it. */
  saved(isSaved: boolean): void {
    this.#unsaved = 'nothing';
    this.#savedAt = performance.now();
    this.#isOvertaken = !isSaved;
  }

  /** Whether the state is to be stored now; what was only examined waits for `ms`. */
  isToBeSaved(ms: number): boolean {
    if (this.#unsaved === 'examined') return performance.now() - this.#savedAt >= ms;
    return this.#unsaved === 'state';
  }
}
