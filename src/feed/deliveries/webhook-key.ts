import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { chownSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  SECRET_PREFIX,
  type SignedContent,
  signatureHeader,
  signedText,
} from '../../../protocol/webhook-signature.ts';
import type { Webhook } from '../../domain/webhook.ts';
import { syncFolder } from '../../store/sqlite/database/connection.ts';

/** Length of the service's webhook key, and of the secrets of webhooks, in bytes. */
export const KEY_BYTES = 32;

/** The key of a service, from which the secrets of all webhooks are derived. */
export interface WebhookKey {
  /** Names the key without revealing anything about it. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The file of a service's webhook key. */
interface WebhookKeyFile {
  readonly path: string;
  /** The database beside which the file is made, with the same owner, for the first webhook. Undefined if operators make the file. */
  readonly madeFor: string | undefined;
}

/** The file of the webhook key cannot be used; the message is for the operator. */
export class WebhookKeyUnusable extends Error {
  override readonly name = 'WebhookKeyUnusable';
}

/** Reads the key; returns undefined if the file does not exist. @throws WebhookKeyUnusable */
export function readWebhookKey({ path }: Pick<WebhookKeyFile, 'path'>): WebhookKey | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new WebhookKeyUnusable((error as Error).message);
  }
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== KEY_BYTES || bytes.toString('base64') !== text) {
    throw new WebhookKeyUnusable(
      `${path} must contain ${KEY_BYTES} bytes in Base64, as "openssl rand -base64 ${KEY_BYTES}" prints them`,
    );
  }
  return { name: nameOf(bytes), bytes };
}

/** Makes the file with a new key, unless another process was faster, and returns the key in it. @throws WebhookKeyUnusable */
function makeWebhookKey(path: string, madeFor: string): WebhookKey {
  // Written under another name first, so that no process reads half a file.
  const own = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
    writeFileSync(own, text, { flag: 'wx', mode: 0o600, flush: true });
    const { uid, gid } = statSync(madeFor);
    if (process.getuid?.() === 0) chownSync(own, uid, gid);
    // A link does not replace a file, as a rename does. Some network and FAT file systems have no hard links.
    linkSync(own, path);
    // Without it, a power cut could lose the file and keep the webhooks whose secrets derive from it. Windows does not open folders.
    if (process.platform !== 'win32') syncFolder(dirname(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new WebhookKeyUnusable(
        `the webhook key cannot be stored: ${(error as Error).message}; make the file with ` +
          `"openssl rand -base64 ${KEY_BYTES} > ${path}", readable only by the service`,
      );
    }
  } finally {
    rmSync(own, { force: true });
  }
  return readWebhookKey({ path })!;
}

/**
 * Returns the key for a new webhook, and makes it for the first one; undefined if webhooks cannot be used.
 * @param file undefined if none is set
 * @throws WebhookKeyUnusable
 */
export function keyForNew(
  file: WebhookKeyFile | undefined,
  others: readonly Webhook[],
): WebhookKey | undefined {
  if (file === undefined) return undefined;
  const { path, madeFor } = file;
  const key = readWebhookKey(file);
  if (others.length === 0 && key === undefined && madeFor !== undefined) {
    return makeWebhookKey(path, madeFor);
  }
  // A key that differs from the key of all other webhooks is most likely a mistake in the settings of this node.
  const isKnown = others.length === 0 || others.some(({ keyName }) => keyName === key?.name);
  return isKnown ? key : undefined;
}

/**
 * Returns the key of a webhook; undefined if this node has another key or none.
 * @param file undefined if none is set
 * @throws WebhookKeyUnusable
 */
export function keyOf(
  file: WebhookKeyFile | undefined,
  { keyName }: Webhook,
): WebhookKey | undefined {
  const key = file && readWebhookKey(file);
  return key?.name === keyName ? key : undefined;
}

function nameOf(key: Uint8Array): string {
  const bytes = hkdfSync('sha256', key, '', 'store-orders webhook key name', 9);
  return Buffer.from(bytes).toString('base64url');
}

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
