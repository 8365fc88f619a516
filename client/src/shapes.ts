import type { OperationName } from '../../protocol/generated/error-codes.ts';
import type { Operations } from '../../protocol/generated/operations.ts';
import type {
  Change,
  ChangePage,
  ChangeResults,
  ErrorRecord,
  ManagedKey,
  OrderRecord,
  Pet,
} from '../../protocol/generated/records.ts';

// What a JSON value has if it is a record, so that another program's JSON is not taken for it. Fields that a later release adds are ignored.

type Check = (value: unknown) => boolean;

/** The type of a value, what it must fulfil, the shape of each item of an array, or the shapes of fields. */
type Shape<T> =
  | ('string' | 'bigint' | 'boolean' | Check)
  | (T extends readonly (infer Item)[]
      ? readonly [Shape<Item>]
      : T extends object
        ? { readonly [K in keyof T]?: Shape<T[K]> }
        : never);

function has<T>(shape: Shape<T>): (value: unknown) => value is T {
  return checkOf(shape as Shape<object>) as (value: unknown) => value is T;
}

function checkOf(shape: Shape<object> | readonly [Shape<object>]): Check {
  if (typeof shape === 'function') return shape as Check;
  if (typeof shape === 'string') return (value) => typeof value === shape;
  if (Array.isArray(shape)) {
    const isItem = checkOf(shape[0]);
    return (value) => Array.isArray(value) && value.every(isItem);
  }
  const fields = Object.entries(shape).map(([name, each]) => [name, checkOf(each)] as const);
  return (value) =>
    isObject(value) && fields.every(([name, check]) => check(value[name as keyof typeof value]));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const isOptionalText: Check = (value) => value === undefined || typeof value === 'string';

const ORDER: Shape<OrderRecord> = {
  ...{ id: 'bigint', status: 'string', placedAt: 'string', updatedAt: 'string' },
  ...{ revision: 'bigint', etag: 'string' },
};
const isOrder = has<OrderRecord>(ORDER);

export const isErrorRecord = has<ErrorRecord>({
  ...{ status: 'bigint', code: 'string', message: 'string' },
  errors: (errors) => errors === undefined || Array.isArray(errors),
  order: (order) => order === undefined || isOrder(order),
});

const RESULTS = { failed: 'bigint', results: [isObject] } as const;
const isRefused = has<ErrorRecord>({ code: 'string' });

/** @param ids of the orders in the request */
export function areResultsOf({ results }: ChangeResults, ids: readonly bigint[]): boolean {
  if (results.length !== ids.length) return false;
  return results.every(({ id, order, error }, index) => {
    if (id !== ids[index]) return false;
    return order === undefined ? isRefused(error) : isOrder(order) && order.id === id;
  });
}

const CHANGE: Shape<Change> = { revision: 'bigint', type: 'string', at: 'string', order: ORDER };
export const isChange = has<Change>(CHANGE);

const CHANGE_PAGE: Shape<ChangePage> = {
  ...{ changes: [CHANGE], next: 'string', more: 'boolean', revision: 'bigint', head: 'string' },
};
export const isChangePage = has<ChangePage>(CHANGE_PAGE);

const WEBHOOK = { id: 'string', url: 'string', state: 'string', after: 'string' } as const;
const WEBHOOK_SECRET = { webhook: WEBHOOK, secret: 'string' } as const;

const COUNTS = { pending: 'bigint', shipped: 'bigint', cancelled: 'bigint' } as const;
const TOTALS = { placed: 'bigint', cancelled: 'bigint', shipped: 'bigint' } as const;

const KEY = { id: 'string', name: 'string', scopes: Array.isArray } as const;
const MANAGED_KEY: Shape<ManagedKey> = {
  ...KEY,
  ...{ state: 'string', createdAt: 'string', webhooks: 'bigint' },
};
const KEY_SECRET = {
  key: MANAGED_KEY,
  secret: isOptionalText,
  invitation: isOptionalText,
} as const;

/** The record of an operation; `Pet` is that of v1. */
export type RecordOf<Name extends OperationName> = Name extends keyof Operations
  ? Extract<Operations[Name]['answer'], object>
  : Pet;

/** What the record in the successful response of an operation has. */
const SHAPES: { readonly [Name in OperationName]?: Shape<RecordOf<Name>> } = {
  getStore: {
    ...{ time: 'string', head: 'string', changesAfter: 'string' },
    ...{ revision: 'bigint', counts: COUNTS },
  },
  listOrders: {
    ...{ orders: [ORDER], next: isOptionalText },
    ...{ revision: 'bigint', head: 'string', changesAfter: 'string' },
  },
  findOrders: { orders: [ORDER] },
  placeOrder: ORDER,
  getOrder: ORDER,
  getOrderHistory: { events: [{ type: 'string', at: 'string', revision: 'bigint' }] },
  cancelOrder: ORDER,
  shipOrder: ORDER,
  cancelOrders: RESULTS,
  shipOrders: RESULTS,
  listChanges: CHANGE_PAGE,
  countOrders: { revision: 'bigint', head: 'string', counts: COUNTS, exact: 'boolean' },
  getActivity: {
    ...{ periods: [TOTALS], byKey: [TOTALS], next: isOptionalText, revision: 'bigint' },
  },
  listWebhooks: { webhooks: [WEBHOOK], next: isOptionalText },
  createWebhook: WEBHOOK_SECRET,
  getWebhook: WEBHOOK,
  updateWebhook: WEBHOOK,
  rotateWebhookSecret: WEBHOOK_SECRET,
  testWebhook: { accepted: 'boolean', durationMs: 'bigint' },
  getKey: KEY,
  listKeys: { keys: [MANAGED_KEY], next: isOptionalText },
  createKey: KEY_SECRET,
  getKeyById: MANAGED_KEY,
  updateKey: MANAGED_KEY,
  rotateKey: KEY_SECRET,
  revokeKey: MANAGED_KEY,
  redeemInvitation: { key: KEY, secret: 'string' },
  'v1.getPet': { id: 'bigint' },
};

/** Whether a value is the record of an operation that has one. */
export const RECORDS: Readonly<Partial<Record<string, Check>>> = Object.fromEntries(
  Object.entries(SHAPES).map(([name, shape]) => [name, checkOf(shape as Shape<object>)]),
);
