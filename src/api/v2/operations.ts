import type { Operation } from '../operation.ts';
import { getActivity } from './get-activity.ts';
import { getStore } from './get-store.ts';
import { createKey } from './keys/create-key.ts';
import { getKey } from './keys/get-key.ts';
import { getKeyById } from './keys/get-key-by-id.ts';
import { listKeys } from './keys/list-keys.ts';
import { redeemInvitation } from './keys/redeem-invitation.ts';
import { revokeKey } from './keys/revoke-key.ts';
import { rotateKey } from './keys/rotate-key.ts';
import { updateKey } from './keys/update-key.ts';
import { listChanges } from './list-changes.ts';
import { cancelOrder } from './orders/cancel-order.ts';
import { cancelOrders } from './orders/cancel-orders.ts';
import { countOrders } from './orders/count-orders.ts';
import { findOrders } from './orders/find-orders.ts';
import { getOrder } from './orders/get-order.ts';
import { getOrderHistory } from './orders/get-order-history.ts';
import { listOrders } from './orders/list-orders.ts';
import { placeOrder } from './orders/place-order.ts';
import { shipOrder } from './orders/ship-order.ts';
import { shipOrders } from './orders/ship-orders.ts';
import { streamChanges } from './stream-changes.ts';
import { createWebhook } from './webhooks/create-webhook.ts';
import { deleteWebhook } from './webhooks/delete-webhook.ts';
import { getWebhook } from './webhooks/get-webhook.ts';
import { listWebhooks } from './webhooks/list-webhooks.ts';
import { rotateWebhookSecret } from './webhooks/rotate-webhook-secret.ts';
import { testWebhook } from './webhooks/test-webhook.ts';
import { updateWebhook } from './webhooks/update-webhook.ts';

/** Every operation of contract/v2.yaml. */
export const OPERATIONS: readonly Operation[] = [
  ...[listOrders, findOrders, placeOrder, getOrder, getOrderHistory, cancelOrder, shipOrder],
  ...[cancelOrders, shipOrders, listChanges, streamChanges],
  ...[countOrders, getStore, getActivity, getKey],
  ...[listWebhooks, createWebhook, getWebhook, updateWebhook, deleteWebhook],
  ...[rotateWebhookSecret, testWebhook],
  ...[listKeys, createKey, getKeyById, updateKey, rotateKey, revokeKey, redeemInvitation],
];
