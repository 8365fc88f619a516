import type {
  Activity,
  Change,
  ChangePage,
  ChangeResult,
  ChangeResults,
  ErrorRecord,
  Key,
  OrderCounts,
  OrderHistory,
  OrderPage,
  OrderRecord,
  Store,
  Webhook,
  WebhookList,
  WebhookSecret,
  WebhookTest,
} from '../../protocol/generated/records.ts';

// Each function returns whether a JSON value has the fields of a record, so that another program's JSON is not taken for it. Fields that a later
// release adds are ignored.

/** A record whose fields have not been validated. */
type Unknown<T> = { readonly [K in keyof T]?: unknown };

export function isErrorRecord(value: unknown, status: number): value is ErrorRecord {
  if (!isObject(value)) return false;
  const record = value as Unknown<ErrorRecord>;
  const { code, message, errors, order } = record;
  return (
    typeof code === 'string' &&
    typeof message === 'string' &&
    record.status === BigInt(status) &&
    (errors === undefined || Array.isArray(errors)) &&
    (order === undefined || isOrder(order))
  );
}

export function isOrder(value: unknown): value is OrderRecord {
  if (!isObject(value)) return false;
  const { id, status, placedAt, updatedAt, revision, etag } = value as Unknown<OrderRecord>;
  return (
    typeof id === 'bigint' &&
    typeof status === 'string' &&
    typeof placedAt === 'string' &&
    typeof updatedAt === 'string' &&
    typeof revision === 'bigint' &&
    typeof etag === 'string'
  );
}

export function isOrderPage(page: Unknown<OrderPage>): boolean {
  const { orders, next, revision, head, changesAfter } = page;
  return (
    isArrayOf(orders, isOrder) &&
    (next === undefined || typeof next === 'string') &&
    typeof revision === 'bigint' &&
    typeof head === 'string' &&
    typeof changesAfter === 'string'
  );
}

/** @param ids of the orders in the request */
export function isChangeResults(
  { failed, results }: Unknown<ChangeResults>,
  ids: readonly bigint[],
): boolean {
  if (typeof failed !== 'bigint' || !isArrayOf(results, () => true)) return false;
  const items = results as readonly Unknown<ChangeResult>[];
  return (
    items.length === ids.length &&
    items.every(({ id, order, error }, index) => {
      if (id !== ids[index]) return false;
      if (order !== undefined) return isOrder(order) && order.id === id;
      return isObject(error) && typeof (error as Unknown<ErrorRecord>).code === 'string';
    })
  );
}

export function isWebhook(value: unknown): value is Webhook {
  if (!isObject(value)) return false;
  const { id, url, state, after } = value as Unknown<Webhook>;
  return [id, url, state, after].every((each) => typeof each === 'string');
}

export function isWebhookList({ webhooks, next }: Unknown<WebhookList>): boolean {
  return isArrayOf(webhooks, isWebhook) && (next === undefined || typeof next === 'string');
}

export function isWebhookSecret({ webhook, secret }: Unknown<WebhookSecret>): boolean {
  return isWebhook(webhook) && typeof secret === 'string';
}

export function isWebhookTest({ accepted, durationMs }: Unknown<WebhookTest>): boolean {
  return typeof accepted === 'boolean' && typeof durationMs === 'bigint';
}

export function isHistory({ events }: Unknown<OrderHistory>): boolean {
  return isArrayOf(events, (event) => {
    const { type, at, revision } = event as Unknown<OrderHistory['events'][number]>;
    return typeof type === 'string' && typeof at === 'string' && typeof revision === 'bigint';
  });
}

export function isChange(value: unknown): value is Change {
  if (!isObject(value)) return false;
  const { revision, type, at, order } = value as Unknown<Change>;
  return (
    typeof revision === 'bigint' &&
    typeof type === 'string' &&
    typeof at === 'string' &&
    isOrder(order)
  );
}

export function isChangePage(page: Unknown<ChangePage>): boolean {
  const { changes, next, more, revision, head } = page;
  return (
    isArrayOf(changes, isChange) &&
    typeof next === 'string' &&
    typeof more === 'boolean' &&
    typeof revision === 'bigint' &&
    typeof head === 'string'
  );
}

export function isStore({ time, counts, revision, head, changesAfter }: Unknown<Store>): boolean {
  const areTexts = [time, head, changesAfter].every((each) => typeof each === 'string');
  return areTexts && typeof revision === 'bigint' && areCounts(counts);
}

export function isOrderCounts({ revision, head, counts, exact }: Unknown<OrderCounts>): boolean {
  if (typeof revision !== 'bigint' || typeof head !== 'string') return false;
  return typeof exact === 'boolean' && areCounts(counts);
}

function areCounts(counts: unknown): boolean {
  if (!isObject(counts)) return false;
  const { pending, shipped, cancelled } = counts as Unknown<OrderCounts['counts']>;
  return [pending, shipped, cancelled].every((count) => typeof count === 'bigint');
}

export function isKey({ id, name, scopes }: Unknown<Key>): boolean {
  return [id, name].every((each) => typeof each === 'string') && Array.isArray(scopes);
}

export function isActivity({ periods, byKey, next, revision }: Unknown<Activity>): boolean {
  const hasCounts = (each: unknown) => {
    const { placed, cancelled, shipped } = each as Unknown<Activity['byKey'][number]>;
    return [placed, cancelled, shipped].every((count) => typeof count === 'bigint');
  };
  return (
    isArrayOf(periods, hasCounts) &&
    isArrayOf(byKey, hasCounts) &&
    (next === undefined || typeof next === 'string') &&
    typeof revision === 'bigint'
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every((item) => isObject(item) && isItem(item));
}
