import type { Logger } from 'pino';
import { isSamePosition, type Position } from '../../../protocol/history.ts';
import type { DeliveryState, Webhook } from '../../domain/webhook.ts';
import type { RecordedDelivery } from '../../store/commands.ts';
import type { ChangePage } from '../../store/feed.ts';
import type { ReadFeed } from '../follow.ts';
import type { AllowedTargets } from './addresses.ts';
import { deliveryOf, headersOf, nextPage, readsFrom } from './delivery.ts';
import { Endpoint } from './endpoint.ts';
import { type EndpointAnswer, isAccepted, post } from './post.ts';
import { isDue, stateAfter } from './repetitions.ts';
import { signingSecrets, type WebhookKey } from './webhook-key.ts';

/** Limits deliveries starting per lane. Slow ones move to the slow lane, so as many as there are webhooks can be in flight. */
const MAX_IN_LANE = 100;
/** Maximum number of deliveries in a row while other endpoints wait for a slot in the lane. */
const MAX_IN_A_ROW = 10;

/** How long a webhook waits after an error of the store. */
const RETRY_MS = 2_000;

/** "failed": there was no answer. */
export type DeliveryOutcome = 'accepted' | 'refused' | 'failed';

interface DeliveriesParts {
  readonly feed: ReadFeed;
  /** Resolves to whether the state was recorded; see the command recordDeliveries. @throws StoreUnavailable, NotConfirmed */
  readonly save: (delivery: RecordedDelivery) => Promise<boolean>;
  readonly mayDeliver: () => boolean;
  readonly allowed: AllowedTargets;
  readonly logger: Logger;
  readonly onDelivery: (outcome: DeliveryOutcome) => void;
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
      if (known === undefined) this.#endpoints.set(webhook.id, new Endpoint(webhook));
      else known.offer(webhook, readAt);
    }
  }

  /** Whether a webhook waits to be read again. */
  get isOutdated(): boolean {
    return this.#endpoints.values().some((endpoint) => endpoint.isOutdated);
  }

  /** Another node may have delivered since the webhooks were read: nothing is sent until they are offered again. */
  forget(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.overtaken();
  }

  /** Begins the deliveries that are due. @param now the current position of the store */
  begin(now: Position): void {
    const slots = { fast: MAX_IN_LANE, slow: MAX_IN_LANE };
    for (const { isBusy, lane } of this.#endpoints.values()) if (isBusy) slots[lane] -= 1;
    this.#isCrowded = false;
    for (const [id, endpoint] of [...this.#endpoints]) {
      if (endpoint.isBusy || !isWaiting(endpoint, now)) continue;
      if (slots[endpoint.lane] <= 0) {
        this.#isCrowded = true;
        continue;
      }
      slots[endpoint.lane] -= 1;
      // Behind all others, so that each gets its turn.
      this.#endpoints.delete(id);
      this.#endpoints.set(id, endpoint);
      this.#track(endpoint);
    }
  }

  /** Waits for the deliveries in flight, and ends them after `ms`. */
  async close(ms: number): Promise<void> {
    const timer = setTimeout(() => this.#ending.abort(), ms);
    await Promise.all(this.#inFlight);
    clearTimeout(timer);
  }

  #track(endpoint: Endpoint): void {
    endpoint.isBusy = true;
    const running = this.#deliver(endpoint)
      .then(
        () => endpoint.ended(),
        (error) => {
          if (!endpoint.interrupted(RETRY_MS)) return;
          const details = { webhook: endpoint.webhook.id, err: error };
          this.#parts.logger.warn(details, 'a delivery was interrupted; it is retried');
        },
      )
      .finally(() => {
        endpoint.isBusy = false;
        if (endpoint.isRemoved) this.#endpoints.delete(endpoint.webhook.id);
        this.#inFlight.delete(running);
      });
    this.#inFlight.add(running);
  }

  /** Sends pages until there is nothing more to send, a delivery fails, or other endpoints need the slot. */
  async #deliver(endpoint: Endpoint): Promise<void> {
    for (let count = 0; this.#maySend(endpoint); count += 1) {
      if (this.#isCrowded && count >= MAX_IN_A_ROW) break;
      const { webhook } = endpoint;
      const page = await nextPage(this.#parts.feed, webhook);
      if (page === undefined) {
        if (!endpoint.positionIsMissing()) return;
        this.#parts.logger.error({ webhook: webhook.id }, PAUSED.changes_gone);
        endpoint.advance({ pauseReason: 'changes_gone' });
        break;
      }
      if (page.changes.length === 0) {
        if (isSamePosition(page.position, readsFrom(webhook))) break;
        endpoint.examinedUpTo(page.position, page.isMore);
        if (endpoint.isToBeSaved && !(await this.#save(endpoint))) return;
        if (page.isMore) continue;
        break;
      }
      const reached = endpoint.isToBeSaved ? endpoint.recorded : undefined;
      const { sendingTo: end } = webhook;
      if (end === undefined || !isSamePosition(end, page.position)) {
        endpoint.advance({ sendingTo: page.position });
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
    if (endpoint.isToBeSaved) await this.#save(endpoint);
  }

  #maySend(endpoint: Endpoint): boolean {
    return endpoint.isActive && isDue(endpoint.webhook, Date.now()) && this.#parts.mayDeliver();
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
    endpoint.sent();
    const sentAt = Date.now();
    const answer = await post({
      ...{ url: new URL(url), headers, body: delivery.body, allowed, signal },
    });
    endpoint.answered(isAccepted(answer));
    // The stop of this node has ended the request; another node repeats it.
    if (signal.aborted && answer.status === undefined) return false;
    const before = endpoint.webhook;
    const state = stateAfter(before, { to: page.position, answer, sentAt, now: Date.now() });
    endpoint.advance(state);
    this.#report(id, { before, state, answer });
    return isAccepted(answer);
  }

  #report(
    id: string,
    {
      before,
      state,
      answer,
    }: {
      readonly before: DeliveryState;
      readonly state: DeliveryState;
      readonly answer: EndpointAnswer;
    },
  ): void {
    const { logger, onDelivery } = this.#parts;
    const { status, problem } = answer;
    if (isAccepted(answer)) onDelivery('accepted');
    else onDelivery(status === undefined ? 'failed' : 'refused');
    const details = { webhook: id, status, problem };
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
    const recorded = { ...endpoint.recorded, beginsWith };
    const isSaved = await this.#parts.save(recorded);
    if (isSaved) endpoint.saved(recorded);
    else endpoint.overtaken();
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

/** Whether an endpoint has a delivery to send or to repeat, or a state to store. */
function isWaiting(endpoint: Endpoint, now: Position): boolean {
  const { webhook } = endpoint;
  if (!endpoint.mayRetry) return false;
  if (endpoint.isToBeSaved) return true;
  if (!endpoint.isActive || !isDue(webhook, Date.now())) return false;
  return webhook.sendingTo !== undefined || !isSamePosition(readsFrom(webhook), now);
}
