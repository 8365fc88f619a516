import { createHmac, hkdfSync } from 'node:crypto';
import {
  SECRET_PREFIX,
  type SignedContent,
  signatureHeader,
  signedText,
} from '../../../protocol/webhook-signature.ts';
import { KEY_BYTES, type WebhookKey } from './webhook-key.ts';

/** How long a replaced secret still signs deliveries, so that receivers have time to change it. */
export const ROTATION_MS = 24 * 3_600_000;

/** The inputs of an endpoint's secret besides the service's webhook key. */
interface SecretName {
  /** Of the endpoint. */
  readonly id: string;
  /** Increases with each rotation. */
  readonly generation: number;
}

/**
 * Returns the secret of an endpoint, as Standard Webhooks writes it: "whsec_" and Base64. It is derived from the service's key (HKDF-SHA256, RFC
 * 5869), so the store contains no secret.
 */
export function secretOf(key: Uint8Array, { id, generation }: SecretName): string {
  const bytes = hkdfSync('sha256', key, '', `store-orders webhook ${id} ${generation}`, KEY_BYTES);
  return SECRET_PREFIX + Buffer.from(bytes).toString('base64');
}

/** Returns the secrets that sign deliveries now, the newest first. @param now milliseconds since the epoch */
export function signingSecrets(
  { bytes }: WebhookKey,
  { id, generation, rotatedAt }: SecretName & { readonly rotatedAt: number | undefined },
  now: number,
): string[] {
  // A rotation in the far future was recorded while the clock was wrong.
  const isRotating = rotatedAt !== undefined && Math.abs(now - rotatedAt) < ROTATION_MS;
  const generations = isRotating ? [generation, generation - 1] : [generation];
  return generations.map((each) => secretOf(bytes, { id, generation: each }));
}

/** Returns the header webhook-signature, with a signature for each secret. */
export function signatureOf(content: SignedContent, secrets: readonly string[]): string {
  const text = signedText(content);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
    return createHmac('sha256', key).update(text).digest('base64');
  });
  return signatureHeader(signatures);
}
