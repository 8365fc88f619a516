import type { OperationName } from '../../protocol/generated/error-codes.ts';
import type { Operations } from '../../protocol/generated/operations.ts';
import type {
  Activity,
  Change,
  ChangePage,
  ChangeResult,
  ChangeResults,
  ErrorRecord,
  FoundOrders,
  Key,
  KeyList,
  KeySecret,
  ManagedKey,
  OrderCounts,
  OrderHistory,
  OrderPage,
  OrderRecord,
  OwnKeySecret,
  Pet,
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

const isOrder = isRecord<OrderRecord>({
  ...{ id: 'bigint', status: 'string', placedAt: 'string', updatedAt: 'string' },
  ...{ revision: 'bigint', etag: 'string' },
});

export const isErrorRecord = isRecord<ErrorRecord>({
  ...{ status: 'bigint', code: 'string', message: 'string' },
  errors: (errors) => errors === undefined || Array.isArray(errors),
  order: (order) => order === undefined || isOrder(order),
});

const isChangeResults = isRecord<ChangeResults>({ failed: 'bigint', results: arrayOf(isObject) });
const isRefusedChange = isRecord<ChangeResult>({
  error: isRecord<ErrorRecord>({ code: 'string' }),
});

/** @param ids of the orders in the request */
export function areResultsOf({ results }: ChangeResults, ids: readonly bigint[]): boolean {
  if (results.length !== ids.length) return false;
  return results.every((result, index) => {
    const { id, order } = result;
    if (id !== ids[index]) return false;
    return order === undefined ? isRefusedChange(result) : isOrder(order) && order.id === id;
  });
}

const isWebhook = isRecord<Webhook>({
  ...{ id: 'string', url: 'string', state: 'string', after: 'string' },
});
const isWebhookSecret = isRecord<WebhookSecret>({ webhook: isWebhook, secret: 'string' });

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

const hasTotals = isRecord<Activity['byKey'][number]>({
  ...{ placed: 'bigint', cancelled: 'bigint', shipped: 'bigint' },
});

const isKey = isRecord<Key>({ id: 'string', name: 'string', scopes: Array.isArray });
const isManagedKey = isRecord<ManagedKey>({
  ...{ id: 'string', name: 'string', state: 'string', scopes: Array.isArray },
  ...{ createdAt: 'string', webhooks: 'bigint' },
});
const isKeySecret = isRecord<KeySecret>({
  ...{ key: isManagedKey, secret: isOptionalText, invitation: isOptionalText },
});

/** The record in a successful response of each operation that has one. */
export const RECORDS: Readonly<Partial<Record<OperationName, Check>>> = {
  getStore: isRecord<Store>({
    ...{ time: 'string', head: 'string', changesAfter: 'string' },
    ...{ revision: 'bigint', counts: areCounts },
  }),
  listOrders: isRecord<OrderPage>({
    ...{ orders: arrayOf(isOrder), next: isOptionalText },
    ...{ revision: 'bigint', head: 'string', changesAfter: 'string' },
  }),
  findOrders: isRecord<FoundOrders>({ orders: arrayOf(isOrder) }),
  placeOrder: isOrder,
  getOrder: isOrder,
  getOrderHistory: isRecord<OrderHistory>({
    events: arrayOf(
      isRecord<OrderHistory['events'][number]>({
        type: 'string',
        at: 'string',
        revision: 'bigint',
      }),
    ),
  }),
  cancelOrder: isOrder,
  shipOrder: isOrder,
  cancelOrders: isChangeResults,
  shipOrders: isChangeResults,
  listChanges: isChangePage,
  countOrders: isRecord<OrderCounts>({
    ...{ revision: 'bigint', head: 'string', counts: areCounts, exact: 'boolean' },
  }),
  getActivity: isRecord<Activity>({
    ...{ periods: arrayOf(hasTotals), byKey: arrayOf(hasTotals) },
    ...{ next: isOptionalText, revision: 'bigint' },
  }),
  listWebhooks: isRecord<WebhookList>({ webhooks: arrayOf(isWebhook), next: isOptionalText }),
  createWebhook: isWebhookSecret,
  getWebhook: isWebhook,
  updateWebhook: isWebhook,
  rotateWebhookSecret: isWebhookSecret,
  testWebhook: isRecord<WebhookTest>({ accepted: 'boolean', durationMs: 'bigint' }),
  getKey: isKey,
  listKeys: isRecord<KeyList>({ keys: arrayOf(isManagedKey), next: isOptionalText }),
  createKey: isKeySecret,
  getKeyById: isManagedKey,
  updateKey: isManagedKey,
  rotateKey: isKeySecret,
  revokeKey: isManagedKey,
  redeemInvitation: isRecord<OwnKeySecret>({ key: isKey, secret: 'string' }),
  'v1.getPet': isRecord<Pet>({ id: 'bigint' }),
};

/** The record of an operation; `Pet` is that of v1. */
export type RecordOf<Name extends OperationName> = Name extends keyof Operations
  ? Extract<Operations[Name]['answer'], object>
  : Pet;
