import type { ChangePage } from '../../protocol/generated/records.ts';
import { SECRET_PREFIX, signaturesIn, signedText } from '../../protocol/webhook-signature.ts';
import { StoreOrdersError } from './errors.ts';
import { expectExactIntegers, parse } from './exact-json.ts';
import { isChangePage } from './shapes.ts';

/** A page of changes that the service has sent, as `listChanges` returns it. */
export interface WebhookDelivery extends ChangePage {
  /** The cursor before the changes: the `next` of the delivery before. */
  readonly after: string;
}

/** The request was not made by the service, was altered on the way, or is a repetition of an old one. */
export class WebhookVerificationError extends StoreOrdersError {
  override readonly name = 'WebhookVerificationError';
}

/** Headers of a request, of Fetch, of node:http, or of a platform that has an array for each. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How much the clocks of the service and of the receiver may differ. */
const TOLERANCE_MS = 300_000;

/**
 * Verifies a delivery by its signature (Standard Webhooks, https://www.standardwebhooks.com) and parses it with exact ids.
 * @param body as it was received: parsing and formatting would change it
 * @param secret whsec_…
 * @param now milliseconds since the epoch
 * @throws WebhookVerificationError; TypeError for a malformed secret, or a body that was parsed; StoreOrdersError if this runtime rounds ids
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  now: number = Date.now(),
): Promise<WebhookDelivery> {
  expectExactIntegers();
  if (typeof secret !== 'string') throw new TypeError('secret must be whsec_ and Base64');
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!/^\d{1,11}$/.test(timestamp) || Math.abs(now - Number(timestamp) * 1_000) > TOLERANCE_MS) {
    throw new WebhookVerificationError('the webhook-timestamp is not within five minutes of now');
  }
  const text = textOf(body);
  const secretBytes = bytesOf(
    secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret,
  );
  if (secretBytes.length === 0) throw new TypeError('secret must be whsec_ and Base64');
  const key = await crypto.subtle.importKey(
    'raw',
    secretBytes,
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  );
  const signed = new TextEncoder().encode(signedText({ id, timestamp, body: text }));
  let isSigned = false;
  for (const signature of signaturesIn(signatures)) {
    // Takes the same time wherever signatures differ.
    isSigned ||= await crypto.subtle.verify('HMAC', key, bytesOf(signature), signed);
  }
  if (!isSigned)
    throw new WebhookVerificationError('no webhook-signature is valid for this secret');
  return deliveryIn(text);
}

function textOf(body: string | Uint8Array): string {
  if (typeof body === 'string') return body;
  try {
    // Without an argument it would return an empty text.
    if (body !== undefined) return new TextDecoder('utf-8').decode(body);
  } catch {}
  throw new TypeError('body must be the text or the bytes that were received, not a parsed body');
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const values = isFetchHeaders(headers)
    ? [headers.get(name)]
    : Object.entries(headers)
        .filter(([each]) => each.toLowerCase() === name)
        .flatMap(([, value]) => value);
  const [value] = values;
  if (values.length === 1 && typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the header ${name} is missing, or repeated`);
}

function isFetchHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

/** Decodes Base64; returns no bytes for a text that cannot be a signature. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function deliveryIn(text: string): WebhookDelivery {
  let delivery: unknown;
  try {
    delivery = parse(text);
  } catch (error) {
    throw new WebhookVerificationError('the body is not JSON', { cause: error });
  }
  if (isChangePage(delivery) && 'after' in delivery) return delivery as WebhookDelivery;
  throw new WebhookVerificationError('the body is not a page of changes');
}
