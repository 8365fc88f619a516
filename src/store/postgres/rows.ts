import type { ApiKey, Environment } from '../../keys/api-key.ts';
import type { Order, OrderStatus } from '../../orders/order.ts';

/** A result row: its columns in the order of the query, each as PostgreSQL's text. */
export type Row = readonly (string | null)[];

/** The columns `orderFromRow` expects. */
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

/** The columns `keyFromRow` expects. */
export const KEY_COLUMNS =
  'id, name, environment, digest, created_at, expires_at, revoked_at, last_used_at';

export function keyFromRow(row: Row): ApiKey {
  const [id, name, environment, digest, createdAt, expiresAt, revokedAt, lastUsedAt] = row;
  return {
    id: id!,
    name: name!,
    environment: environment as Environment,
    // bytea comes as \x and hexadecimal digits.
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

/** Milliseconds since the epoch stay far below 2^53, so a number holds them exactly. */
function time(value: string | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/**
 * An array as PostgreSQL reads it from text. For numbers, booleans and plain words: nothing is quoted.
 */
export function arrayOf(
  values: readonly (bigint | number | boolean | string | undefined)[],
): string {
  let text = '';
  for (const value of values) text += `,${value ?? 'NULL'}`;
  return `{${text.slice(1)}}`;
}

/** An array of bytea. */
export function byteaArray(values: readonly Uint8Array[]): string {
  return `{${values.map((value) => `"\\\\x${Buffer.from(value).toString('hex')}"`).join(',')}}`;
}

/** An array of any text. */
export function textArray(values: readonly (string | undefined)[]): string {
  const elements = values.map((value) =>
    value === undefined ? 'NULL' : `"${value.replaceAll(/["\\]/g, '\\$&')}"`,
  );
  return `{${elements.join(',')}}`;
}
