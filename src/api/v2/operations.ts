import type { Operation } from '../operation.ts';
import { cancelOrder } from './cancel-order.ts';
import { cancelOrders } from './cancel-orders.ts';
import { countOrders } from './count-orders.ts';
import { findOrders } from './find-orders.ts';
import { getActivity } from './get-activity.ts';
import { getKey } from './get-key.ts';
import { getOrder } from './get-order.ts';
import { getOrderHistory } from './get-order-history.ts';
import { getStore } from './get-store.ts';
import { listChanges } from './list-changes.ts';
import { listOrders } from './list-orders.ts';
import { placeOrder } from './place-order.ts';
import { shipOrder } from './ship-order.ts';
import { shipOrders } from './ship-orders.ts';
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
];
