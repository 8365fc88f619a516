// Made from the contracts by "node build/records.ts": the error codes that each operation can have, with their statuses.

const GENERAL = {
  bad_request: 400,
  api_key_missing: 401,
  api_key_malformed: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  api_key_revoked: 401,
  api_key_wrong_environment: 401,
  internal_error: 500,
  store_unavailable: 503,
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  uri_too_long: 414,
  expectation_failed: 417,
  headers_too_large: 431,
  http_version_not_supported: 505,
} as const;

/** An operation, as hooks name it. */
export type OperationName =
  | 'getStore'
  | 'listOrders'
  | 'placeOrder'
  | 'getOrder'
  | 'getOrderHistory'
  | 'cancelOrder'
  | 'shipOrder'
  | 'findOrders'
  | 'cancelOrders'
  | 'shipOrders'
  | 'listChanges'
  | 'streamChanges'
  | 'countOrders'
  | 'getActivity'
  | 'listWebhooks'
  | 'createWebhook'
  | 'getWebhook'
  | 'updateWebhook'
  | 'deleteWebhook'
  | 'rotateWebhookSecret'
  | 'testWebhook'
  | 'getKey'
  | 'listKeys'
  | 'createKey'
  | 'getKeyById'
  | 'updateKey'
  | 'rotateKey'
  | 'revokeKey'
  | 'redeemInvitation'
  | 'v1.listOrders'
  | 'v1.cancelOrder'
  | 'v1.getPet';

export const ERROR_CODES: Readonly<Record<OperationName, Readonly<Record<string, number>>>> = {
  getStore: { ...GENERAL, parameter_invalid: 400, scope_missing: 403 },
  listOrders: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    read_limit_reached: 429,
  },
  placeOrder: {
    ...GENERAL,
    body_invalid: 400,
    idempotency_key_missing: 400,
    parameter_invalid: 400,
    scope_missing: 403,
    reference_taken: 409,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    place_limit_reached: 429,
    no_ids_left: 507,
  },
  getOrder: {
    ...GENERAL,
    parameter_invalid: 400,
    scope_missing: 403,
    order_not_found: 404,
    invalid_order_id: 404,
  },
  getOrderHistory: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    order_not_found: 404,
    invalid_order_id: 404,
  },
  cancelOrder: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    order_not_found: 404,
    invalid_order_id: 404,
    order_already_shipped: 409,
    order_already_cancelled: 409,
    order_changed: 412,
    precondition_failed: 412,
    reference_differs: 412,
    unsupported_media_type: 415,
    cancel_limit_reached: 429,
  },
  shipOrder: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    order_not_found: 404,
    invalid_order_id: 404,
    order_already_shipped: 409,
    order_already_cancelled: 409,
    order_changed: 412,
    precondition_failed: 412,
    reference_differs: 412,
    unsupported_media_type: 415,
  },
  findOrders: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    unsupported_media_type: 415,
    read_limit_reached: 429,
  },
  cancelOrders: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    orders_not_changed: 409,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    cancel_limit_reached: 429,
  },
  shipOrders: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    orders_not_changed: 409,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
  },
  listChanges: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    changes_gone: 410,
    read_limit_reached: 429,
  },
  streamChanges: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    changes_gone: 410,
    stream_limit_reached: 429,
    too_many_streams: 503,
  },
  countOrders: { ...GENERAL, parameter_invalid: 400, scope_missing: 403, read_limit_reached: 429 },
  getActivity: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    changes_gone: 410,
    read_limit_reached: 429,
  },
  listWebhooks: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    read_limit_reached: 429,
  },
  createWebhook: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    webhook_url_taken: 409,
    webhook_limit_reached: 409,
    too_many_webhooks: 409,
    changes_gone: 410,
    precondition_failed: 412,
    unsupported_media_type: 415,
    webhooks_unavailable: 503,
  },
  getWebhook: { ...GENERAL, parameter_invalid: 400, scope_missing: 403, webhook_not_found: 404 },
  updateWebhook: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    webhook_not_found: 404,
    webhook_url_taken: 409,
    webhook_limit_reached: 409,
    too_many_webhooks: 409,
    changes_gone: 410,
    webhook_changed: 412,
    precondition_failed: 412,
    unsupported_media_type: 415,
  },
  deleteWebhook: {
    ...GENERAL,
    parameter_invalid: 400,
    scope_missing: 403,
    webhook_not_found: 404,
    webhook_changed: 412,
    precondition_failed: 412,
  },
  rotateWebhookSecret: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    webhook_not_found: 404,
    webhook_changed: 412,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    webhooks_unavailable: 503,
  },
  testWebhook: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    webhook_not_found: 404,
    unsupported_media_type: 415,
    webhooks_unavailable: 503,
    too_many_tests: 503,
  },
  getKey: { ...GENERAL, parameter_invalid: 400 },
  listKeys: {
    ...GENERAL,
    parameter_invalid: 400,
    cursor_invalid: 400,
    scope_missing: 403,
    read_limit_reached: 429,
  },
  createKey: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    exceeds_own_key: 403,
    too_many_keys: 409,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    key_change_limit_reached: 429,
  },
  getKeyById: { ...GENERAL, parameter_invalid: 400, scope_missing: 403, key_not_found: 404 },
  updateKey: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    exceeds_own_key: 403,
    key_not_found: 404,
    key_ended: 409,
    last_key_manager: 409,
    key_changed: 412,
    precondition_failed: 412,
    unsupported_media_type: 415,
    key_change_limit_reached: 429,
  },
  rotateKey: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    exceeds_own_key: 403,
    key_not_found: 404,
    key_ended: 409,
    last_key_manager: 409,
    key_changed: 412,
    precondition_failed: 412,
    unsupported_media_type: 415,
    idempotency_key_reused: 422,
    key_change_limit_reached: 429,
  },
  revokeKey: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    scope_missing: 403,
    exceeds_own_key: 403,
    key_not_found: 404,
    key_ended: 409,
    last_key_manager: 409,
    key_changed: 412,
    precondition_failed: 412,
    unsupported_media_type: 415,
  },
  redeemInvitation: {
    ...GENERAL,
    parameter_invalid: 400,
    body_invalid: 400,
    no_invitation: 409,
    unsupported_media_type: 415,
  },
  'v1.listOrders': { ...GENERAL, scope_missing: 403 },
  'v1.cancelOrder': {
    ...GENERAL,
    scope_missing: 403,
    order_not_found: 404,
    order_already_cancelled: 404,
    invalid_order_id: 404,
    order_already_shipped: 409,
    cancel_limit_reached: 429,
  },
  'v1.getPet': {
    ...GENERAL,
    scope_missing: 403,
    pet_not_found: 404,
    invalid_pet_id: 404,
    pet_lookup_gone: 410,
  },
};
