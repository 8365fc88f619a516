import type { CSV_COLUMNS } from '../../../protocol/csv.ts';
import { INTEGER, OtherNumber } from '../../../protocol/exact-json.ts';
import { STATUS_WITH } from '../../../protocol/history.ts';
import {
  isInt64,
  isReason,
  isReference,
  isTrackingNumber,
  ORDER_STATUSES,
  type OrderDraft,
  type OrderStatus,
  type Pet,
} from '../../domain/order.ts';
import { cut } from '../../domain/text.ts';
import { parseTimestamp, timestampProblem } from '../../domain/timestamp.ts';
import type { Columns, Fields, FieldValue } from './row.ts';

export const ORDER_FIELDS = {
  id: 'integer',
  petId: 'integer',
  quantity: 'integer',
  shipDate: 'text',
  complete: 'boolean',
  status: 'text',
  reference: 'text',
  reason: 'text',
  trackingNumber: 'text',
} as const satisfies Columns & Record<(typeof CSV_COLUMNS)[number], unknown>;

export const PET_FIELDS = { id: 'integer', name: 'text', tag: 'text' } as const satisfies Columns;

/** Thrown by the functions below; the message lists all reasons why the fields are not a valid order or pet. */
export class FieldProblem extends Error {
  override readonly name = 'FieldProblem';
}

/** @throws FieldProblem */
export function orderOf(fields: Fields): OrderDraft {
  const reader = new FieldReader(fields, ORDER_FIELDS);
  const order = {
    id: reader.int64('id'),
    petId: reader.int64('petId'),
    quantity: reader.quantity(),
    shipDate: reader.timestamp('shipDate'),
    complete: reader.boolean('complete'),
    status: reader.status(),
    reference: reader.textWithin('reference', isReference, 255),
    reason: reader.textWithin('reason', isReason, 64),
    trackingNumber: reader.textWithin('trackingNumber', isTrackingNumber, 128),
  };
  for (const [name, status] of Object.entries(STATUS_WITH)) {
    if (order[name as keyof typeof STATUS_WITH] === undefined || order.status === status) continue;
    reader.problems.push(`${name} is for orders whose status is ${status}`);
  }
  // Refused, since the blank rows at the end of a spreadsheet would become orders.
  const isEmpty = Object.values(fields).every((value) => value === null);
  if (isEmpty) reader.problems.push('has no value in any field');
  reader.finish();
  return order;
}

/** @throws FieldProblem */
export function petOf(fields: Fields): Pet {
  const reader = new FieldReader(fields, PET_FIELDS);
  const id = reader.int64('id');
  const pet = { id: id ?? 0n, name: reader.text('name'), tag: reader.text('tag') };
  if (fields.id === undefined || fields.id === null) reader.problems.push('id is missing');
  reader.finish();
  return pet;
}

/** Reads the fields of a row one by one and collects problems. */
class FieldReader {
  readonly problems: string[] = [];
  readonly #fields: Fields;

  constructor(fields: Fields, columns: Columns) {
    this.#fields = fields;
    for (const name of Object.keys(fields)) {
      if (Object.hasOwn(columns, name)) continue;
      this.problems.push(`has an unknown field ${JSON.stringify(cut(name, 40))}`);
    }
  }

  int64(name: string): bigint | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value === 'string' && INTEGER.test(value)) {
      this.problems.push(`${name} must be a number; it is the string "${value}"`);
      return undefined;
    }
    if (typeof value !== 'bigint') return this.#refuse(name, 'an integer, in digits only', value);
    return isInt64(value) ? value : this.#refuse(name, 'within int64', value);
  }

  quantity(): bigint | undefined {
    const value = this.int64('quantity');
    if (value !== undefined && value < 0n) this.#refuse('quantity', '0 or more', value);
    return value;
  }

  text(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined) return undefined;
    if (typeof value !== 'string') return this.#refuse(name, 'a string', value);
    // PostgreSQL cannot store U+0000 in text.
    if (value.includes('\0')) return this.#refuse(name, 'a string without U+0000', value);
    // Unpaired surrogates cannot be encoded in UTF-8; a replacement character would be stored instead.
    if (value.isWellFormed()) return value;
    return this.#refuse(name, 'a string without unpaired surrogates', value);
  }

  /** Reads a text without control characters. */
  textWithin(name: string, isValid: (text: string) => boolean, most: number): string | undefined {
    const text = this.text(name);
    if (text === undefined || isValid(text)) return text;
    return this.#refuse(name, `1 to ${most} characters without control characters`, text);
  }

  /** Reads a date-time as milliseconds since the epoch. */
  timestamp(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    return parseTimestamp(text) ?? this.#refuse(name, timestampProblem(text), text);
  }

  boolean(name: string): boolean | undefined {
    const value = this.#fields[name] ?? undefined;
    if (value === undefined || typeof value === 'boolean') return value;
    return this.#refuse(name, 'true or false', value);
  }

  status(): OrderStatus {
    const value = this.text('status') ?? 'pending';
    const known = ORDER_STATUSES.find((name) => name === value.toLowerCase());
    if (known === undefined) this.#refuse('status', 'pending, shipped or cancelled', value);
    return known ?? 'pending';
  }

  /** @throws FieldProblem */
  finish(): void {
    if (this.problems.length > 0) throw new FieldProblem(this.problems.join('; '));
  }

  #refuse(name: string, expected: string, value: FieldValue): undefined {
    this.problems.push(`${name} must be ${expected}; it is ${cut(display(value), 60)}`);
  }
}

function display(value: FieldValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  // As in the file: 1.0 rather than 1.
  if (value instanceof OtherNumber) return value.text;
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return String(value);
}
