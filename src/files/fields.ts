import { isInt64, ORDER_STATUSES, type OrderDraft, type OrderStatus } from '../orders/order.ts';
import { parseTimestamp } from '../orders/timestamp.ts';
import type { Pet } from '../pets/pet.ts';
import type { Columns, Fields, Value } from './rows.ts';

export const ORDER_COLUMNS = {
  id: 'integer',
  petId: 'integer',
  quantity: 'integer',
  shipDate: 'text',
  complete: 'boolean',
  status: 'text',
} as const satisfies Columns;

export const PET_COLUMNS = { id: 'integer', name: 'text', tag: 'text' } as const satisfies Columns;

/** Thrown by the functions below: why the fields are no order or no pet. */
export class FieldProblem extends Error {
  override readonly name = 'FieldProblem';
}

/** @throws FieldProblem */
export function orderOf(fields: Fields): OrderDraft {
  refuseUnknown(fields, ORDER_COLUMNS);
  const quantity = int64(fields, 'quantity');
  if (quantity !== undefined && quantity < 0n) throw problem('quantity', '0 or more', quantity);
  const shipDate = text(fields, 'shipDate');
  const time = shipDate === undefined ? undefined : parseTimestamp(shipDate);
  if (shipDate !== undefined && time === undefined) {
    throw problem('shipDate', 'a date-time with an offset, as 2026-12-01T09:30:00Z', shipDate);
  }
  return {
    id: int64(fields, 'id'),
    petId: int64(fields, 'petId'),
    quantity,
    shipDate: time,
    complete: boolean(fields, 'complete'),
    status: status(fields),
  };
}

/** @throws FieldProblem */
export function petOf(fields: Fields): Pet {
  refuseUnknown(fields, PET_COLUMNS);
  const id = int64(fields, 'id');
  if (id === undefined) throw new FieldProblem('id is missing');
  return { id, name: text(fields, 'name'), tag: text(fields, 'tag') };
}

function status(fields: Fields): OrderStatus {
  const value = text(fields, 'status') ?? 'pending';
  const known = ORDER_STATUSES.find((name) => name === value);
  if (known === undefined) throw problem('status', ORDER_STATUSES.join(', '), value);
  return known;
}

function refuseUnknown(fields: Fields, columns: Columns): void {
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(columns, name)) {
      throw new FieldProblem(`has an unknown field ${JSON.stringify(name.slice(0, 40))}`);
    }
  }
}

function int64(fields: Fields, name: string): bigint | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'bigint') throw problem(name, 'an integer, in digits only', value);
  if (!isInt64(value)) throw problem(name, 'within int64', value);
  return value;
}

function text(fields: Fields, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== 'string') throw problem(name, 'a string', value);
  // PostgreSQL can keep all characters but this one.
  if (value?.includes('\0')) throw problem(name, 'a string without U+0000', value);
  // It has no UTF-8; another character would be stored in its place.
  if (value?.isWellFormed() === false) {
    throw problem(name, 'a string without unpaired surrogates', value);
  }
  return value;
}

function boolean(fields: Fields, name: string): boolean | undefined {
  const value = fields[name] ?? undefined;
  if (value !== undefined && typeof value !== 'boolean') {
    throw problem(name, 'true or false', value);
  }
  return value;
}

function problem(name: string, expected: string, value: Value): FieldProblem {
  const shown = typeof value === 'string' ? JSON.stringify(value) : display(value);
  return new FieldProblem(`${name} must be ${expected}; it is ${shown.slice(0, 60)}`);
}

function display(value: Value): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}
