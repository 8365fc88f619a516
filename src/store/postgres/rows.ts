import type { ApiKey, Environment } from '../../keys/api-key.ts';
import type { Order, OrderStatus } from '../../orders/order.ts';

/** A result row: columns in the order of the query, each in PostgreSQL's text format. */
export type Row = readonly (string | null)[];

/** The columns expected by `orderFromRow`. */
export const ORDER_COLUMNS = 'id, status, pet_id, quantity, ship_date, complete';

export function orderFromRow(row: Row): Order {
  const [id, status, petId, quantity, shipDate, complete] = row;
  return {
    id: BigInt(id!),
    status: status as OrderStatus,
    petId: integer(petId),
    quantity: integer(quantity),
    shipDate: time(shipDate),
    complete: complete === null ? undefined : complete === 't',
  };
}

/** The columns expected by `keyFromRow`. */
export const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at';

export function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt] = row;
  return {
    id: id!,
    name: name!,
    environment: environment as Environment,
    // bytea in hex format: "\x" and hexadecimal digits.
    digest: Buffer.from(digest!.slice(2), 'hex'),
    createdAt: Number(createdAt),
    expiresAt: time(expiresAt),
    revokedAt: time(revokedAt),
    lastUsedAt: time(lastUsedAt),
  };
}

function integer(value: string | null | undefined): bigint | undefined {
  return value === null || value === undefined ? undefined : BigInt(value);
}

/** Milliseconds since the epoch are far below 2^53, so the conversion to number is exact. */
function time(value: string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** Formats a PostgreSQL array literal of numbers, booleans or plain words; elements are not quoted. */
export function arrayOf(
  values: readonly (bigint | number | boolean | string | undefined)[],
): string {
  let text = '';
  for (const value of values) text += `,${value ?? 'NULL'}`;
  return `{${text.slice(1)}}`;
}

/** Formats an array literal of bytea. */
export function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${Buffer.from(value).toString('hex')}"`).join(',')}}`;
}

/** Formats an array literal of arbitrary text; undefined becomes NULL. */
export function textArray(values: readonly (string | undefined)[]): string {
  const elements = values.map((value) =>
    value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
  );
  return `{${elements.join(',')}}`;
}
