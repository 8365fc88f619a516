// Made from the contract by "node build/records.ts".

import type {
  Activity,
  BulkCancel,
  BulkShip,
  CancelDetails,
  ChangePage,
  ChangeResults,
  FoundOrders,
  Key,
  KeyChanges,
  KeyList,
  KeyRotation,
  KeySecret,
  ManagedKey,
  NewKey,
  NewOrder,
  NewWebhook,
  NoDetails,
  OrderCounts,
  OrderHistory,
  OrderPage,
  OrderRecord,
  OrdersToFind,
  OwnKeySecret,
  ShipDetails,
  Store,
  Webhook,
  WebhookChanges,
  WebhookList,
  WebhookSecret,
  WebhookTest,
} from './records.ts';

/** The operations of v2: parameters of path and query, the body, and the record of a successful response. */
export interface Operations {
  readonly getStore: {
    readonly parameters: object;
    readonly body: undefined;
    readonly answer: Store;
  };
  readonly listOrders: {
    readonly parameters: {
      readonly status?: readonly ('pending' | 'shipped' | 'cancelled')[];
      readonly petId?: bigint;
      readonly reference?: string;
      readonly referencePrefix?: string;
      readonly referenceContains?: string;
      readonly shipDateFrom?: string;
      readonly shipDateBefore?: string;
      readonly placedFrom?: string;
      readonly placedBefore?: string;
      readonly updatedFrom?: string;
      readonly updatedBefore?: string;
      readonly sort?: 'id' | 'placedAt' | 'updatedAt' | 'shipDate' | 'reference';
      readonly direction?: 'asc' | 'desc';
      readonly limit?: bigint;
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: OrderPage;
  };
  readonly placeOrder: {
    readonly parameters: object;
    readonly body: NewOrder;
    readonly answer: OrderRecord;
  };
  readonly getOrder: {
    readonly parameters: { readonly orderId: bigint };
    readonly body: undefined;
    readonly answer: OrderRecord;
  };
  readonly getOrderHistory: {
    readonly parameters: {
      readonly orderId: bigint;
      readonly limit?: bigint;
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: OrderHistory;
  };
  readonly cancelOrder: {
    readonly parameters: { readonly orderId: bigint };
    readonly body: CancelDetails | undefined;
    readonly answer: OrderRecord;
  };
  readonly shipOrder: {
    readonly parameters: { readonly orderId: bigint };
    readonly body: ShipDetails | undefined;
    readonly answer: OrderRecord;
  };
  readonly findOrders: {
    readonly parameters: object;
    readonly body: OrdersToFind;
    readonly answer: FoundOrders;
  };
  readonly cancelOrders: {
    readonly parameters: object;
    readonly body: BulkCancel;
    readonly answer: ChangeResults;
  };
  readonly shipOrders: {
    readonly parameters: object;
    readonly body: BulkShip;
    readonly answer: ChangeResults;
  };
  readonly listChanges: {
    readonly parameters: {
      readonly after?: string;
      readonly since?: string;
      readonly limit?: bigint;
      readonly petId?: bigint;
      readonly type?: readonly ('placed' | 'cancelled' | 'shipped')[];
      readonly by?: string;
    };
    readonly body: undefined;
    readonly answer: ChangePage;
  };
  readonly streamChanges: {
    readonly parameters: {
      readonly after?: string;
      readonly petId?: bigint;
      readonly type?: readonly ('placed' | 'cancelled' | 'shipped')[];
      readonly by?: string;
    };
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly countOrders: {
    readonly parameters: {
      readonly status?: readonly ('pending' | 'shipped' | 'cancelled')[];
      readonly petId?: bigint;
      readonly reference?: string;
      readonly referencePrefix?: string;
      readonly referenceContains?: string;
      readonly shipDateFrom?: string;
      readonly shipDateBefore?: string;
      readonly placedFrom?: string;
      readonly placedBefore?: string;
      readonly updatedFrom?: string;
      readonly updatedBefore?: string;
    };
    readonly body: undefined;
    readonly answer: OrderCounts;
  };
  readonly getActivity: {
    readonly parameters: {
      readonly boundaries: readonly string[];
      readonly by?: string;
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: Activity;
  };
  readonly listWebhooks: {
    readonly parameters: { readonly limit?: bigint; readonly cursor?: string };
    readonly body: undefined;
    readonly answer: WebhookList;
  };
  readonly createWebhook: {
    readonly parameters: object;
    readonly body: NewWebhook;
    readonly answer: WebhookSecret;
  };
  readonly getWebhook: {
    readonly parameters: { readonly webhookId: string };
    readonly body: undefined;
    readonly answer: Webhook;
  };
  readonly updateWebhook: {
    readonly parameters: { readonly webhookId: string };
    readonly body: WebhookChanges;
    readonly answer: Webhook;
  };
  readonly deleteWebhook: {
    readonly parameters: { readonly webhookId: string };
    readonly body: undefined;
    readonly answer: undefined;
  };
  readonly rotateWebhookSecret: {
    readonly parameters: { readonly webhookId: string };
    readonly body: NoDetails | undefined;
    readonly answer: WebhookSecret;
  };
  readonly testWebhook: {
    readonly parameters: { readonly webhookId: string };
    readonly body: NoDetails | undefined;
    readonly answer: WebhookTest;
  };
  readonly getKey: { readonly parameters: object; readonly body: undefined; readonly answer: Key };
  readonly listKeys: {
    readonly parameters: {
      readonly state?: 'valid' | 'expired' | 'revoked';
      readonly limit?: bigint;
      readonly cursor?: string;
    };
    readonly body: undefined;
    readonly answer: KeyList;
  };
  readonly createKey: {
    readonly parameters: object;
    readonly body: NewKey;
    readonly answer: KeySecret;
  };
  readonly getKeyById: {
    readonly parameters: { readonly keyId: string };
    readonly body: undefined;
    readonly answer: ManagedKey;
  };
  readonly updateKey: {
    readonly parameters: { readonly keyId: string };
    readonly body: KeyChanges;
    readonly answer: ManagedKey;
  };
  readonly rotateKey: {
    readonly parameters: { readonly keyId: string };
    readonly body: KeyRotation | undefined;
    readonly answer: KeySecret;
  };
  readonly revokeKey: {
    readonly parameters: { readonly keyId: string };
    readonly body: NoDetails | undefined;
    readonly answer: ManagedKey;
  };
  readonly redeemInvitation: {
    readonly parameters: object;
    readonly body: NoDetails | undefined;
    readonly answer: OwnKeySecret;
  };
}
