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

type Check = (value: unknown) => boolean;

/** The type of a field, or what its value must fulfil. */
type Shape<T> = { readonly [K in keyof T]?: 'string' | 'bigint' | 'boolean' | Check };

function isRecord<T>(shape: Shape<T>): (value: unknown) => value is T {
  const fields = Object.entries(shape) as [keyof T, string | Check][];
  return (value): value is T =>
    isObject(value) &&
    fields.every(([name, check]) => {
      const field: unknown = (value as T)[name];
      return typeof check === 'string' ? typeof field === check : check(field);
    });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const arrayOf =
  (isItem: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isItem);

const isOptionalText: Check = (value) => value === undefined || typeof value === 'string';

export const isOrder = isRecord<OrderRecord>({
  ...{ id: 'bigint', status: 'string', placedAt: 'string', updatedAt: 'string' },
  ...{ revision: 'bigint', etag: 'string' },
});

export const isErrorRecord = isRecord<ErrorRecord>({
  ...{ status: 'bigint', code: 'string', message: 'string' },
  errors: (errors) => errors === undefined || Array.isArray(errors),
  order: (order) => order === undefined || isOrder(order),
});

export const isOrderPage = isRecord<OrderPage>({
  ...{ orders: arrayOf(isOrder), next: isOptionalText },
  ...{ revision: 'bigint', head: 'string', changesAfter: 'string' },
});

const isAnyChangeResults = isRecord<ChangeResults>({
  failed: 'bigint',
  results: arrayOf(isObject),
});
const isRefusedChange = isRecord<ChangeResult>({
  error: isRecord<ErrorRecord>({ code: 'string' }),
});

/** @param ids of the orders in the request */
export function isChangeResults(value: unknown, ids: readonly bigint[]): boolean {
  if (!isAnyChangeResults(value) || value.results.length !== ids.length) return false;
  return value.results.every((result, index) => {
    const { id, order } = result;
    if (id !== ids[index]) return false;
    return order === undefined ? isRefusedChange(result) : isOrder(order) && order.id === id;
  });
}

export const isWebhook = isRecord<Webhook>({
  ...{ id: 'string', url: 'string', state: 'string', after: 'string' },
});
export const isWebhookList = isRecord<WebhookList>({
  webhooks: arrayOf(isWebhook),
  next: isOptionalText,
});
export const isWebhookSecret = isRecord<WebhookSecret>({ webhook: isWebhook, secret: 'string' });
export const isWebhookTest = isRecord<WebhookTest>({ accepted: 'boolean', durationMs: 'bigint' });

export const isHistory = isRecord<OrderHistory>({
  events: arrayOf(
    isRecord<OrderHistory['events'][number]>({ type: 'string', at: 'string', revision: 'bigint' }),
  ),
});

export const isChange = isRecord<Change>({
  ...{ revision: 'bigint', type: 'string', at: 'string', order: isOrder },
});

export const isChangePage = isRecord<ChangePage>({
  ...{ changes: arrayOf(isChange), next: 'string', more: 'boolean' },
  ...{ revision: 'bigint', head: 'string' },
});

const areCounts = isRecord<OrderCounts['counts']>({
  ...{ pending: 'bigint', shipped: 'bigint', cancelled: 'bigint' },
});

export const isStore = isRecord<Store>({
  ...{ time: 'string', head: 'string', changesAfter: 'string' },
  ...{ revision: 'bigint', counts: areCounts },
});

export const isOrderCounts = isRecord<OrderCounts>({
  ...{ revision: 'bigint', head: 'string', counts: areCounts, exact: 'boolean' },
});

export const isKey = isRecord<Key>({ id: 'string', name: 'string', scopes: Array.isArray });

const hasTotals = isRecord<Activity['byKey'][number]>({
  ...{ placed: 'bigint', cancelled: 'bigint', shipped: 'bigint' },
});

export const isActivity = isRecord<Activity>({
  ...{ periods: arrayOf(hasTotals), byKey: arrayOf(hasTotals) },
  ...{ next: isOptionalText, revision: 'bigint' },
});
