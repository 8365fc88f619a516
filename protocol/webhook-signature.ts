// Signatures of webhook deliveries: Standard Webhooks (https://www.standardwebhooks.com), HMAC-SHA256.

/** Precedes the Base64 of a secret's bytes. */
export const SECRET_PREFIX = 'whsec_';

/** A delivery that is to be signed. */
export interface SignedContent {
  /** The header webhook-id: the same at each repetition. */
  readonly id: string;
  /** The header webhook-timestamp: seconds since the epoch. */
  readonly timestamp: number | string;
  readonly body: string;
}

export function signedText({ id, timestamp, body }: SignedContent): string {
  return `${id}.${timestamp}.${body}`;
}

/** Writes the header webhook-signature. @param signatures in Base64, one for each secret */
export function signatureHeader(signatures: readonly string[]): string {
  return signatures.map((signature) => `v1,${signature}`).join(' ');
}

/** A rotation has two; others are of other versions. */
const MAX_SIGNATURES = 10;

/** Returns the signatures in a header webhook-signature, in Base64; those of other versions are left out. */
export function signaturesIn(header: string): string[] {
  return header
    .split(' ', MAX_SIGNATURES)
    .filter((each) => each.startsWith('v1,'))
    .map((each) => each.slice('v1,'.length));
}
