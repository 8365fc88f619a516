import type { Logger } from 'pino';
import { isSamePosition, type Position } from '../../../protocol/history.ts';
import type { DeliveryState, Webhook } from '../../domain/webhook.ts';
import type { RecordedDelivery } from '../../store/commands.ts';
import type { ChangePage } from '../../store/feed.ts';
import type { ReadFeed } from '../follow.ts';
import type { AllowedTargets } from './addresses.ts';
import { deliveryOf, headersOf, nextPage, readsFrom } from './delivery.ts';
import { type EndpointAnswer, isAccepted, post } from './post.ts';
import { isDue, stateAfter } from './retries.ts';
import { signingSecrets, type WebhookKey } from './webhook-key.ts';

/** Limits deliveries starting per lane. Slow ones move to the slow lane, so as many as there are webhooks can be in flight. */
const MAX_IN_LANE = 100;
/** Maximum number of deliveries in a row while other endpoints wait for a slot in the lane. */
const MAX_IN_A_ROW = 10;

/** An endpoint that takes longer to answer is in the slow lane; so is one that has failed. */
const SLOW_MS = 1_000;
/** How often the position of a webhook is saved while it only passes changes that it does not want. */
const EXAMINED_SAVED_MS = 2_000;

/** How long a webhook waits after an error of the store. */
const RETRY_MS = 2_000;

/** A webhook on the node that delivers it: its row, and what is in flight. Times are by performance.now(). */
interface Endpoint {
  /** The row, ahead of the store by what is unsaved. */
  webhook: Webhook;
  /** What the row must still have in the store when it is saved. */
  known: RecordedDelivery['known'];
  /** "examined": only changes were passed that are not wanted. "progress", which is saved at once: a delivery began or was answered. */
  unsaved: 'nothing' | 'examined' | 'progress';
  /** Whether the row is as it was read. */
  isFresh: boolean;
  /** Of the last read or save. */
  syncedAt: number;
  /** Set once another node or a client is known to have changed the row: nothing is sent until it is read again. */
  outdatedAt: number | undefined;
  /** Set while the last attempt was interrupted by an error of the store. */
  retryAt: number | undefined;
  /** When the delivery was sent that is not answered yet. */
  sentAt: number | undefined;
  /** Whether the last delivery failed or took long, or a long history is read. */
  isSlow: boolean;
  /** Whether an attempt to deliver is running. */
  isBusy: boolean;
  /** Whether it was deleted or paused, or is no longer for this node. */
  isRemoved: boolean;
}

export interface DeliveriesParts {
  readonly feed: ReadFeed;
  /** Resolves to whether the state was recorded; see the command recordDeliveries. @throws StoreUnavailable, NotConfirmed */
  readonly save: (delivery: RecordedDelivery) => Promise<boolean>;
  readonly mayDeliver: () => boolean;
  readonly allowed: AllowedTargets;
  readonly logger: Logger;
  /** Called after each delivery, for metrics; "failed": there was no answer. */
  readonly onDelivery: (outcome: 'accepted' | 'refused' | 'failed') => void;
}

/**
 * The deliveries of one node: in order, and one at a time for each endpoint. Endpoints that failed or were slow have a lane of their own,
 * so that they do not delay others.
 */
export class Deliveries {
  readonly #parts: DeliveriesParts;
  /** By id, in the order in which they get a slot. */
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #ending = new AbortController();
  #key: WebhookKey | undefined;
  /** Whether an endpoint waits for a slot. */
  #isCrowded = false;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  /** Whether this node has no webhook to deliver. */
  get isEmpty(): boolean {
    return this.#endpoints.size === 0;
  }

  /**
   * Replaces the webhooks by those in the store.
   * @param key undefined if there is none; webhooks of another key are not sent
   * @param readAt when the read began, by performance.now()
   */
  offer(webhooks: readonly Webhook[], key: WebhookKey | undefined, readAt: number): void {
    this.#key = key;
    const sendable = webhooks.filter(
      ({ pauseReason, keyName }) => pauseReason === undefined && keyName === key?.name,
    );
    const ids = new Set(sendable.map(({ id }) => id));
    for (const [id, endpoint] of this.#endpoints) {
      endpoint.isRemoved = !ids.has(id);
      // An endpoint with a delivery in flight stays: if its webhook is resumed before the answer, it must not get a second one.
      if (endpoint.isRemoved && !endpoint.isBusy) this.#endpoints.delete(id);
    }
    for (const webhook of sendable) {
      const known = this.#endpoints.get(webhook.id);
      if (known === undefined) this.#endpoints.set(webhook.id, endpointOf(webhook));
      else offerRow(known, webhook, readAt);
    }
  }

  /** Whether a webhook waits to be read again. */
  get isOutdated(): boolean {
    return this.#endpoints
      .values()
      .some(({ outdatedAt, isBusy }) => outdatedAt !== undefined && !isBusy);
  }

  /** Another node may have delivered since the webhooks were read: nothing is sent until they are offered again. */
  forget(): void {
    for (const endpoint of this.#endpoints.values()) overtaken(endpoint);
  }

  /** Begins the deliveries that are due. @param now the current position of the store */
  begin(now: Position): void {
    const slots = { fast: MAX_IN_LANE, slow: MAX_IN_LANE };
    for (const endpoint of this.#endpoints.values())
      if (endpoint.isBusy) slots[laneOf(endpoint)] -= 1;
    this.#isCrowded = false;
    for (const [id, endpoint] of [...this.#endpoints]) {
      if (endpoint.isBusy || !isWaiting(endpoint, now)) continue;
      const lane = laneOf(endpoint);
      if (slots[lane] <= 0) {
        this.#isCrowded = true;
        continue;
      }
      slots[lane] -= 1;
      // Behind all others, so that each gets its turn.
      this.#endpoints.delete(id);
      this.#endpoints.set(id, endpoint);
      const running = this.#attempt(endpoint).finally(() => this.#inFlight.delete(running));
      this.#inFlight.add(running);
    }
  }

  /** Waits for the deliveries in flight, and ends them after `ms`. */
  async close(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#ending.abort(), ms);
    await Promise.all(this.#inFlight);
    clearTimeout(timer);
  }

  async #attempt(endpoint: Endpoint): Promise<void> {
    endpoint.isBusy = true;
    try {
      await this.#deliver(endpoint);
      endpoint.retryAt = undefined;
    } catch (error) {
      if (endpoint.retryAt === undefined) {
        const details = { webhook: endpoint.webhook.id, err: error };
        this.#parts.logger.warn(details, 'a delivery was interrupted; it is retried');
      }
      endpoint.retryAt = performance.now() + RETRY_MS;
    } finally {
      endpoint.isBusy = false;
      if (endpoint.isRemoved) this.#endpoints.delete(endpoint.webhook.id);
    }
  }

  /** Sends pages until there is nothing more to send, a delivery fails, or other endpoints need the slot. */
  async #deliver(endpoint: Endpoint): Promise<void> {
    for (let count = 0; this.#maySend(endpoint); count += 1) {
      if (this.#isCrowded && count >= MAX_IN_A_ROW) break;
      const { webhook } = endpoint;
      const page = await nextPage(this.#parts.feed, webhook);
      if (page === undefined) {
        // A failover may have lost a position that only this node has: the row is read again first.
        if (!endpoint.isFresh) return overtaken(endpoint);
        this.#parts.logger.error({ webhook: webhook.id }, PAUSED.changes_gone);
        advance(endpoint, { pauseReason: 'changes_gone' });
        break;
      }
      if (page.changes.length === 0) {
        if (isSamePosition(page.position, readsFrom(webhook))) break;
        advance(endpoint, { examined: page.position, sendingTo: undefined }, 'examined');
        // A long history also counts as slow.
        if (page.isMore) endpoint.isSlow = true;
        if (isToBeSaved(endpoint) && !(await this.#save(endpoint))) return;
        if (page.isMore) continue;
        break;
      }
      const reached = isToBeSaved(endpoint) ? recorded(endpoint) : undefined;
      const { sendingTo: end } = webhook;
      if (end === undefined || !isSamePosition(end, page.position)) {
        advance(endpoint, { sendingTo: page.position });
      }
      // Stored before it is sent: then every node repeats the same delivery, and nothing is sent to a webhook that was paused, rotated or
      // changed since it was read.
      if (!(await this.#save(endpoint, webhook.generation))) {
        // The delivery before this one was accepted, and the store does not have its position yet.
        if (reached !== undefined) await this.#parts.save(reached);
        return;
      }
      if (!(await this.#send(endpoint, page))) break;
    }
    if (isToBeSaved(endpoint)) await this.#save(endpoint);
  }

  #maySend(endpoint: Endpoint): boolean {
    return isActive(endpoint) && isDue(endpoint.webhook, Date.now()) && this.#parts.mayDeliver();
  }

  /** Sends a page. @returns whether the endpoint has accepted it and the next one may be sent */
  async #send(endpoint: Endpoint, page: ChangePage): Promise<boolean> {
    const { webhook } = endpoint;
    const { id, url, position, version, keyName } = webhook;
    const { signal } = this.#ending;
    const key = this.#key;
    if (key?.name !== keyName) return false;
    // The version is part of the series: after the cursor or filter of a webhook was set, the same changes are no repetition.
    const delivery = await deliveryOf(`${id} ${version}`, position, page);
    const headers = headersOf(delivery, signingSecrets(key, webhook, Date.now()));
    const { allowed } = this.#parts;
    endpoint.sentAt = performance.now();
    const sentAt = Date.now();
    const answer = await post({ url: new URL(url), headers, body: delivery.body, allowed, signal });
    endpoint.isSlow = !isAccepted(answer) || hasTakenLong(endpoint);
    endpoint.sentAt = undefined;
    // The stop of this node has ended the request; another node repeats it.
    if (signal.aborted && answer.status === undefined) return false;
    const before = endpoint.webhook;
    const state = stateAfter(before, { to: page.position, answer, sentAt, now: Date.now() });
    advance(endpoint, state);
    this.#report(before, state, answer);
    return isAccepted(answer);
  }

  #report(before: Webhook, state: DeliveryState, answer: EndpointAnswer): void {
    const { logger, onDelivery } = this.#parts;
    const { status, problem } = answer;
    if (isAccepted(answer)) onDelivery('accepted');
    else onDelivery(status === undefined ? 'failed' : 'refused');
    const details = { webhook: before.id, status, problem };
    const reason = state.pauseReason;
    if (reason === 'failed' || reason === 'gone') logger.error(details, PAUSED[reason]);
    else if (state.failures === 1) logger.warn(details, 'a webhook was not accepted');
    else if (state.failures === 0 && before.failures > 0) {
      logger.info(details, 'a webhook is accepted again');
    }
  }

  /**
   * Stores the state of a webhook.
   * @param beginsWith see RecordedDelivery
   * @returns whether this node may continue with its copy of the webhook
   */
  async #save(endpoint: Endpoint, beginsWith?: number): Promise<boolean> {
    const { id, known, state } = recorded(endpoint);
    const isSaved = await this.#parts.save({ id, known, state, beginsWith });
    if (!isSaved) overtaken(endpoint);
    else {
      const { position, sendingTo } = state;
      endpoint.known = { version: known.version, position, sendingTo };
      endpoint.unsaved = 'nothing';
      endpoint.syncedAt = performance.now();
    }
    return isSaved;
  }
}

const PAUSED = {
  failed:
    'a webhook was not accepted for three days, in 50 attempts or more, and is paused; it keeps its position',
  gone: 'the endpoint of a webhook is gone (410), so the webhook is paused; it keeps its position',
  changes_gone:
    'the history of the store is another than that of a webhook, which is paused; set its cursor',
} as const;

function endpointOf(webhook: Webhook): Endpoint {
  return {
    ...{ webhook, known: webhook, unsaved: 'nothing', isFresh: true, syncedAt: performance.now() },
    ...{ outdatedAt: undefined, retryAt: undefined, sentAt: undefined },
    ...{ isSlow: webhook.failures > 0, isBusy: false, isRemoved: false },
  };
}

/** Takes over the changes of clients and of other nodes. @param readAt when the read of the row began */
function offerRow(endpoint: Endpoint, read: Webhook, readAt: number): void {
  const { webhook, outdatedAt, unsaved } = endpoint;
  // A change that concerns the attempt ends it, since what it saves next is refused.
  if (endpoint.isBusy) return;
  const isOlder = outdatedAt === undefined ? endpoint.syncedAt >= readAt : readAt < outdatedAt;
  if (isOlder || (unsaved !== 'nothing' && read.version === webhook.version)) return;
  Object.assign(endpoint, { webhook: read, known: read, unsaved: 'nothing', isFresh: true });
  endpoint.outdatedAt = undefined;
}

/** Another node may have delivered, or a client has changed the webhook. */
function overtaken(endpoint: Endpoint): void {
  endpoint.outdatedAt = performance.now();
  endpoint.unsaved = 'nothing';
}

/** Changes the state in memory. */
function advance(
  endpoint: Endpoint,
  state: Partial<DeliveryState>,
  unsaved: 'examined' | 'progress' = 'progress',
): void {
  endpoint.webhook = { ...endpoint.webhook, ...state };
  endpoint.isFresh = false;
  if (endpoint.unsaved !== 'progress') endpoint.unsaved = unsaved;
}

function recorded({ webhook, known }: Endpoint): RecordedDelivery {
  return { id: webhook.id, known, state: webhook };
}

function isToBeSaved({ unsaved, syncedAt }: Endpoint): boolean {
  if (unsaved === 'examined') return performance.now() - syncedAt >= EXAMINED_SAVED_MS;
  return unsaved === 'progress';
}

/** An endpoint changes to the slow lane as soon as its answer takes longer than SLOW_MS. */
function laneOf(endpoint: Endpoint): 'fast' | 'slow' {
  return endpoint.isSlow || hasTakenLong(endpoint) ? 'slow' : 'fast';
}

function hasTakenLong({ sentAt }: Endpoint): boolean {
  return sentAt !== undefined && performance.now() - sentAt > SLOW_MS;
}

/** Whether deliveries may be sent. */
function isActive({ webhook, isRemoved, outdatedAt }: Endpoint): boolean {
  return !isRemoved && webhook.pauseReason === undefined && outdatedAt === undefined;
}

/** Whether an endpoint has a delivery to send or to repeat, or a state to store. */
function isWaiting(endpoint: Endpoint, now: Position): boolean {
  const { webhook, retryAt } = endpoint;
  if (retryAt !== undefined && performance.now() < retryAt) return false;
  if (isToBeSaved(endpoint)) return true;
  if (!isActive(endpoint) || !isDue(webhook, Date.now())) return false;
  return webhook.sendingTo !== undefined || !isSamePosition(readsFrom(webhook), now);
}
