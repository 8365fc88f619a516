import type { Json } from '../http.ts';

/** An order as version 2 shows it: `id:status:digest`, with a digest of all its fields. */
export function entryOf(order: Json): string {
  const { petId, quantity, shipDate, complete, reference, reason, trackingNumber } = order;
  const { placedAt, updatedAt, revision, etag } = order;
  const rest = [petId, quantity, shipDate, complete, reference, reason, trackingNumber];
  rest.push(placedAt, updatedAt, revision, etag);
  return `${order.id}:${order.status}:${digestOf(rest)}`;
}

/** An order as version 1 shows it, whose list has pending and shipped orders: those that are complete. */
export function listedOf({ id, petId, quantity, shipDate, complete }: Json): string {
  return `${id}:${complete ? 'shipped' : 'pending'}:${digestOf([petId, quantity, shipDate])}`;
}

function digestOf(fields: readonly unknown[]): string {
  return hashOf(fields.join('|'), 0x811c9dc5).toString(36);
}

/** FNV-1a with a final mix: 32 bits. */
export function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  return (hash ^ (hash >>> 15)) >>> 0;
}
