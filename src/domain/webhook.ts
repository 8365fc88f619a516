import { hash, randomBytes } from 'node:crypto';
import { isSamePosition, type Position } from '../../protocol/history.ts';
import type { OrderEventType } from './lifecycle.ts';

/** Maximum number of webhooks of a store. */
export const MAX_WEBHOOKS = 1_000;
/** Of these, what API keys leave to the operators. */
export const RESERVED_WEBHOOKS = 100;
/** Maximum number of pets that a webhook names. */
export const MAX_PETS = 100;

/** How long a node may send deliveries after it has asked, unless it asks again. */
export const LEASE_MS = 10_000;

/**
 * Why a webhook is paused:
 * - "requested": by a client or an operator
 * - "failed": its endpoint has not accepted a delivery for GIVE_UP_AFTER_MS, in GIVE_UP_AFTER_FAILURES attempts
 * - "gone": its endpoint has answered 410
 * - "changes_gone": its cursor is in no history of the store, so it must be set again
 */
export type PauseReason = 'requested' | 'failed' | 'gone' | 'changes_gone';

/** Which changes an endpoint wants; absent conditions are met by every change. */
interface WebhookFilter {
  readonly types: readonly OrderEventType[] | undefined;
  readonly petIds: readonly bigint[] | undefined;
}

/** How far the deliveries of a webhook are. Times are in milliseconds since the epoch. */
export interface DeliveryState {
  /** Delivered up to here. */
  readonly position: Position;
  /** The webhook wants no change between `position` and here. Undefined if the change after `position` has not been examined. */
  readonly examined: Position | undefined;
  /** The end of the delivery that is being sent, so that every node repeats the same one. */
  readonly sendingTo: Position | undefined;
  /** Failures since the last success. */
  readonly failures: number;
  readonly failingSince: number | undefined;
  readonly nextAttemptAt: number | undefined;
  readonly pauseReason: PauseReason | undefined;
  readonly lastSuccessAt: number | undefined;
  readonly lastFailure: WebhookFailure | undefined;
}

interface WebhookFailure {
  /** When the delivery was sent. */
  readonly at: number;
  /** The status of its answer; undefined without one. */
  readonly status: number | undefined;
  /** Why there was no answer. */
  readonly problem: string | undefined;
}

/** An endpoint to which changes are sent, and its place in the feed. */
export interface Webhook extends WebhookFilter, DeliveryState {
  readonly id: string;
  /** As the URL parser writes it; unique. */
  readonly url: string;
  readonly description: string | undefined;
  readonly createdAt: number;
  /** Id of the API key that created it; undefined for operators. */
  readonly createdBy: string | undefined;
  /** Names the service's webhook key from which its secret is derived. */
  readonly keyName: string;
  /** Increases with each rotation of its secret; the first is 1. */
  readonly generation: number;
  /** When its secret was rotated last. */
  readonly rotatedAt: number | undefined;
  /** Increases when the position or the filter is set. The outcome of a delivery with an earlier version is not recorded. */
  readonly version: bigint;
}

export function webhookState({
  pauseReason,
  failures,
}: Pick<Webhook, 'pauseReason' | 'failures'>): 'active' | 'failing' | 'paused' {
  if (pauseReason !== undefined) return 'paused';
  return failures > 0 ? 'failing' : 'active';
}

export function newWebhook(
  wanted: WebhookFilter &
    Pick<Webhook, 'url' | 'description' | 'createdAt' | 'createdBy' | 'keyName' | 'position'>,
): Webhook {
  return {
    ...wanted,
    id: `wh_${randomBytes(8).toString('hex')}`,
    generation: 1,
    rotatedAt: undefined,
    version: 0n,
    ...STARTED,
    pauseReason: undefined,
    lastSuccessAt: undefined,
    lastFailure: undefined,
  };
}

/** The state of a webhook with neither a delivery nor a failure. */
export const STARTED = {
  examined: undefined,
  sendingTo: undefined,
  failures: 0,
  failingSince: undefined,
  nextAttemptAt: undefined,
} as const;

/** Fields to set in a webhook; absent ones stay as they are. An empty `description` is none, and empty `types` or `petIds` are all. */
export type WebhookChanges = Partial<
  Pick<Webhook, 'url' | 'description' | 'types' | 'petIds' | 'position'>
> & { readonly isPaused?: boolean | undefined };

/**
 * Returns a webhook after changes: the same object if they change nothing, so that a delivery in flight goes on. A paused webhook that is
 * resumed is tried at once.
 */
export function changedWebhook(webhook: Webhook, changes: WebhookChanges): Webhook {
  const { url = webhook.url, isPaused } = changes;
  const description = orAbsent(changes.description, webhook.description);
  const types = orAbsent(changes.types, webhook.types);
  const petIds = orAbsent(changes.petIds, webhook.petIds);
  const position = changes.position ?? webhook.position;
  const isRedirected =
    !isSameSet(types, webhook.types) ||
    !isSameSet(petIds, webhook.petIds) ||
    !isSamePosition(position, webhook.position);
  const hasMoved = url !== webhook.url;
  const isResumed = isPaused === false && webhook.pauseReason !== undefined;
  const isStopped = isPaused === true && webhook.pauseReason === undefined;
  const isDescribed = description !== webhook.description;
  if (!(isRedirected || hasMoved || isResumed || isStopped || isDescribed)) return webhook;
  return {
    ...webhook,
    ...{ url, description },
    ...(isRedirected && { types, petIds, position, examined: undefined, sendingTo: undefined }),
    // Outcomes of deliveries that were sent before this change are ignored.
    ...((hasMoved || isRedirected) && { version: webhook.version + 1n }),
    ...((isResumed || hasMoved) && {
      ...{ failures: 0, failingSince: undefined, nextAttemptAt: undefined },
    }),
    ...(isStopped && { pauseReason: 'requested' }),
    ...(isResumed && { pauseReason: undefined }),
  };
}

function orAbsent<T extends { readonly length: number }>(
  set: T | undefined,
  before: T | undefined,
): T | undefined {
  if (set === undefined) return before;
  return set.length === 0 ? undefined : set;
}

function isSameSet<T>(one: readonly T[] | undefined, other: readonly T[] | undefined): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

/** Identifies the settings of a webhook, and whether it is paused; deliveries do not change it. */
export function webhookTag(webhook: Webhook): string {
  const { id, url, description, types, petIds, keyName, generation, version, pauseReason } =
    webhook;
  const set = [id, url, description, types, petIds?.map(String), keyName, generation];
  const text = JSON.stringify([...set, String(version), pauseReason]);
  return hash('sha256', text, 'hex').slice(0, 16);
}

/** Returns a webhook with the next secret. @param keyName of the service's webhook key as it is now */
export function rotatedWebhook(webhook: Webhook, keyName: string, now: number): Webhook {
  return {
    ...webhook,
    generation: webhook.generation + 1,
    // A secret of another webhook key cannot be derived any more, so it does not sign beside the new one.
    rotatedAt: keyName === webhook.keyName ? now : undefined,
    keyName,
  };
}

/** The changes that a webhook has not delivered yet. */
export interface WebhookLag {
  /** Changes, wanted or not, up to MAX_LAG. */
  readonly count: number;
  /** When the first of them was made; undefined if there is none. */
  readonly since: number | undefined;
}

/** How many changes are counted at most for a webhook. */
export const MAX_LAG = 1_000;
/** Maximum number of webhooks in a read of lags. */
export const MAX_LAGS = 20;
