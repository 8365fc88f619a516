import { createHash } from 'node:crypto';

/**
 * What the program has acknowledged, and must keep from then on. Ids are decimal int64.
 * - order: an order has had this status, with the ETag of that state where it is known; statuses are final but for `pending`
 * - list: the orders of version 1's list had this digest when its ETag was handed out
 * - cursor: a position in the feed of changes
 * - secret: an API key that was printed
 * - backup: a complete backup at this path, with everything up to a position in the feed
 * - done: a command has ended with success
 */
export type Claim =
  | { readonly type: 'order'; readonly id: string; readonly status: string; readonly etag?: string }
  | { readonly type: 'list'; readonly etag: string; readonly digest: string }
  | { readonly type: 'cursor'; readonly cursor: string }
  | { readonly type: 'secret'; readonly secret: string }
  | { readonly type: 'backup'; readonly path: string; readonly cursor?: string }
  | { readonly type: 'done'; readonly what: string };

/** What an image is compared with. */
export interface Expected {
  /** What was acknowledged before the power failed. */
  readonly claims: readonly Claim[];
  /** The changes that were requested until the end of the record, as `cancelled 5`; of placements, as `placed` and the petId. */
  readonly requested: ReadonlySet<string>;
  /** Ids of all orders that were acknowledged until the end of the record, of whatever history. */
  readonly secret: string;
}

export function digestOf(list: string): string {
  return createHash('sha256').update(list).digest('hex');
}
