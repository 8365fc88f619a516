import { parsePosition, positionText } from '../../../protocol/history.ts';
import type { OrderEventType } from '../../domain/lifecycle.ts';
import {
  changedWebhook,
  type DeliveryState,
  LEASE_MS,
  MAX_LAG,
  MAX_WEBHOOKS,
  type PauseReason,
  RESERVED_WEBHOOKS,
  rotatedWebhook,
  type Webhook,
  webhookTag,
} from '../../domain/webhook.ts';
import type { Store } from '../store.ts';
import { findRequests, rememberRequest } from './bulk-requests.ts';
import {
  type Column,
  type Commands,
  type Dialects,
  jsonRows,
  number,
  type Row,
  type Session,
  type StoreReads,
  text,
} from './session.ts';

export const readWebhooks: StoreReads<Store>['webhooks'] = async (session, id) => {
  const rows = id === undefined ? session.query(SQL.all) : session.query(SQL.byId, [id]);
  return (await rows).map(webhookFromRow);
};

export const countWebhooks: StoreReads<Store>['webhookCounts'] = async (session, keyIds) => {
  const rows = await session.query(SQL.countsOf, [jsonRows(keyIds.map((id) => [id]))]);
  return new Map(rows.map(([id, count]) => [id as string, Number(count)]));
};

export const readWebhookLags: StoreReads<Store>['webhookLags'] = async (session, revisions) => {
  const rows = await session.query(SQL.lags, [jsonRows(revisions.map((each) => [each])), MAX_LAG]);
  return rows.map(([count, since]) => ({ count: Number(count), since: number(since) }));
};

/** Whether the API key, or the operators, have a webhook with this URL. */
async function isTaken(session: Session, { url, createdBy }: Webhook): Promise<boolean> {
  return (await session.query(SQL.byUrl, [url, createdBy ?? ''])).length > 0;
}

/** Returns a webhook, locked until the transaction ends so that no delivery is recorded, or why it is not changed. */
async function lockedWebhook(session: Session, id: string, ifTag?: string) {
  await session.write(SQL.lock, [id]);
  const [row] = await session.query(SQL.byId, [id]);
  if (row === undefined) return 'webhook_not_found';
  const webhook = webhookFromRow(row);
  return ifTag !== undefined && webhookTag(webhook) !== ifTag ? 'webhook_changed' : webhook;
}

async function replaced(session: Session, webhook: Webhook): Promise<Webhook> {
  await session.write(SQL.replace, valuesOf(webhook));
  return webhook;
}

export const webhookCommands = {
  async createWebhook(session, { webhook, maxOfKey = MAX_WEBHOOKS }) {
    if (await isTaken(session, webhook)) return 'webhook_url_taken';
    const { createdBy } = webhook;
    const [[all, own]] = (await session.query(SQL.counts, [createdBy])) as [[bigint, bigint]];
    if (createdBy !== undefined && own >= maxOfKey) return 'webhook_limit_reached';
    const most = MAX_WEBHOOKS - (createdBy === undefined ? 0 : RESERVED_WEBHOOKS);
    if (all >= most) return 'too_many_webhooks';
    await session.write(SQL.insert, valuesOf(webhook));
    return 'created';
  },

  async changeWebhook(session, { id, changes, ifTag }) {
    const webhook = await lockedWebhook(session, id, ifTag);
    if (typeof webhook === 'string') return webhook;
    const changed = changedWebhook(webhook, changes);
    if (changed.url !== webhook.url && (await isTaken(session, changed))) {
      return 'webhook_url_taken';
    }
    return changed === webhook ? webhook : replaced(session, changed);
  },

  async rotateWebhook(session, { id, keyName, at, name, ifTag }) {
    const webhook = await lockedWebhook(session, id);
    if (typeof webhook === 'string') return webhook;
    const digest = `rotateWebhook ${id}`;
    const [earlier] = await findRequests<[number, string]>(session, name ? [name] : []);
    if (earlier !== undefined) {
      if (earlier.digest !== digest) return 'idempotency_key_reused';
      const [generation, madeWith] = earlier.results;
      return madeWith === keyName
        ? { webhook, generation, isReplay: true }
        : 'webhooks_unavailable';
    }
    if (ifTag !== undefined && webhookTag(webhook) !== ifTag) return 'webhook_changed';
    const rotated = await replaced(session, rotatedWebhook(webhook, keyName, at));
    const { generation } = rotated;
    if (name !== undefined) {
      await rememberRequest(session, { ...name, digest, results: [generation, keyName], at });
    }
    return { webhook: rotated, generation, isReplay: false };
  },

  async deleteWebhook(session, { id, ifTag }) {
    const webhook = await lockedWebhook(session, id, ifTag);
    if (typeof webhook === 'string') return webhook;
    await session.write(SQL.delete, [id]);
    return 'deleted';
  },

  async leaseWebhooks(session, { node }) {
    const count = await session.write(LEASE[session.engine], [node, LEASE_MS]);
    return count === 0 ? 'held_by_another' : 'held';
  },

  async releaseWebhooks(session, { node }) {
    await session.write(SQL.release, [node]);
    return 'released';
  },

  async recordDeliveries(session, { node, deliveries }) {
    const rows = deliveries.map(({ id, known, state, beginsWith }) => {
      const { version, position, sendingTo } = known;
      const sending = sendingTo === undefined ? '' : positionText(sendingTo);
      return [id, version, positionText(position), sending, ...stateValues(state), beginsWith];
    });
    const recorded = await session.writeReturning(SQL.record, [jsonRows(rows), node]);
    return recorded.map(([id]) => id as string);
  },
} satisfies Partial<Commands>;

function webhookFromRow(row: Row): Webhook {
  const [id, url, description, types, petIds, createdAt, createdBy, keyName, ...rest] = row;
  const [generation, rotatedAt, version, ...state] = rest;
  return {
    id: id as string,
    url: url as string,
    description: text(description),
    types: text(types)?.split(' ') as OrderEventType[] | undefined,
    petIds: text(petIds)?.split(' ').map(BigInt),
    createdAt: Number(createdAt),
    createdBy: text(createdBy),
    keyName: keyName as string,
    generation: Number(generation),
    rotatedAt: number(rotatedAt),
    version: version as bigint,
    ...stateFromRow(state),
  };
}

function valuesOf(webhook: Webhook) {
  const { id, url, description, types, petIds, createdAt, createdBy } = webhook;
  const { keyName, generation, rotatedAt, version } = webhook;
  return [
    ...[id, url, description, types?.join(' '), petIds?.join(' '), createdAt, createdBy],
    ...[keyName, generation, rotatedAt, version],
    ...stateValues(webhook),
  ];
}

function stateFromRow(row: Row): DeliveryState {
  const [position, examined, sendingTo, failures, failingSince, nextAttemptAt, ...rest] = row;
  const [pauseReason, lastSuccessAt, failedAt, status, problem] = rest;
  const positionIn = (column: Column | undefined) =>
    column === null ? undefined : parsePosition(column as string)!;
  return {
    position: positionIn(position)!,
    examined: positionIn(examined),
    sendingTo: positionIn(sendingTo),
    failures: Number(failures),
    failingSince: number(failingSince),
    nextAttemptAt: number(nextAttemptAt),
    pauseReason: text(pauseReason) as PauseReason | undefined,
    lastSuccessAt: number(lastSuccessAt),
    lastFailure:
      failedAt === null
        ? undefined
        : { at: Number(failedAt), status: number(status), problem: text(problem) },
  };
}

function stateValues({ position, examined, sendingTo, lastFailure, ...state }: DeliveryState) {
  const { failures, failingSince, nextAttemptAt, pauseReason, lastSuccessAt } = state;
  return [
    ...[
      positionText(position),
      examined && positionText(examined),
      sendingTo && positionText(sendingTo),
    ],
    ...[failures, failingSince, nextAttemptAt, pauseReason, lastSuccessAt],
    ...[lastFailure?.at, lastFailure?.status, lastFailure?.problem],
  ];
}

/** In the order of `webhookFromRow`: first the fields that clients set, then those that deliveries change. */
const SETTINGS =
  'id, url, description, events, pet_ids, created_at, created_by, key_name, generation, rotated_at, version';
const STATE =
  'position, examined, sending_to, failures, failing_since, next_attempt_at, paused_for, last_success_at, last_failure_at, last_status, last_problem';
const COLUMNS = `${SETTINGS}, ${STATE}`;
const PARAMETERS = COLUMNS.split(', ').map((_, index) => `$${index + 1}`);

const SQL = {
  all: `SELECT ${COLUMNS} FROM webhooks ORDER BY created_at, id`,
  byId: `SELECT ${COLUMNS} FROM webhooks WHERE id = $1`,
  counts: 'SELECT count(*), count(*) FILTER (WHERE created_by = $1) FROM webhooks',
  countsOf: `SELECT created_by, count(*) FROM webhooks
    WHERE created_by IN (SELECT value ->> 0 FROM json_array_elements($1::json)) GROUP BY created_by`,
  byUrl: `SELECT id FROM webhooks WHERE url = $1 AND coalesce(created_by, '') = $2`,
  insert: `INSERT INTO webhooks (${COLUMNS}) VALUES (${PARAMETERS.join(', ')})`,
  replace: `UPDATE webhooks SET (${COLUMNS}) = (${PARAMETERS.join(', ')}) WHERE id = $1`,
  delete: 'DELETE FROM webhooks WHERE id = $1',
  lock: 'UPDATE webhooks SET version = version WHERE id = $1',
  release: `UPDATE webhook_lease SET holder = '', held_until = 0 WHERE holder = $1`,
  lags: `SELECT (SELECT count(*) FROM (SELECT 1 FROM order_events
        WHERE revision > CAST(asked.value ->> 0 AS bigint) LIMIT $2) AS later),
      (SELECT at FROM order_events WHERE revision > CAST(asked.value ->> 0 AS bigint)
        ORDER BY revision LIMIT 1)
    FROM json_array_elements($1::json) AS asked`,
  // A webhook that a client has paused since stays paused.
  record: `UPDATE webhooks SET position = given.value ->> 4, examined = given.value ->> 5, sending_to = given.value ->> 6,
      failures = CAST(given.value ->> 7 AS bigint), failing_since = CAST(given.value ->> 8 AS bigint),
      next_attempt_at = CAST(given.value ->> 9 AS bigint), paused_for = coalesce(paused_for, given.value ->> 10),
      last_success_at = CAST(given.value ->> 11 AS bigint), last_failure_at = CAST(given.value ->> 12 AS bigint),
      last_status = CAST(given.value ->> 13 AS bigint), last_problem = given.value ->> 14
    FROM json_array_elements($1::json) AS given
    WHERE webhooks.id = given.value ->> 0 AND webhooks.version = CAST(given.value ->> 1 AS bigint)
      AND webhooks.position = given.value ->> 2 AND coalesce(webhooks.sending_to, '') = given.value ->> 3
      AND (given.value ->> 15 IS NULL
        OR (webhooks.paused_for IS NULL AND webhooks.generation = CAST(given.value ->> 15 AS bigint)))
      AND EXISTS (SELECT 1 FROM webhook_lease WHERE holder = $2)
      AND EXISTS (SELECT 1 FROM store WHERE moved_to IS NULL)
    RETURNING webhooks.id`,
} as const;

const lease = (now: string) => `UPDATE webhook_lease SET holder = $1, held_until = ${now} + $2
  WHERE (holder = $1 OR held_until <= ${now} OR held_until > ${now} + $2)
    AND EXISTS (SELECT 1 FROM store WHERE moved_to IS NULL)`;

/** A lease that ends later than LEASE_MS from now was taken before the clock was set back, and counts as ended. */
const LEASE: Dialects = {
  sqlite: lease(`CAST(unixepoch('subsec') * 1000 AS integer)`),
  postgresql: lease('CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)'),
};
