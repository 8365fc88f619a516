import type { OrderRecord } from '@store-orders/client';
import { parseWrittenId } from '../list/address.ts';
import { dayText } from '../list/range.ts';

/** A form of a new order, with its fields as they are typed. One form places one order, however often it is sent. */
export interface Draft {
  readonly pet: string;
  readonly quantity: string;
  /** YYYY-MM-DD; empty for none. */
  readonly day: string;
  /** HH:MM, in the user's time zone. */
  readonly time: string;
  readonly reference: string;
  /** Identifies the placement, together with the API key: another one would place another order. */
  readonly idempotencyKey: string;
  /** The id of the API key. */
  readonly by: string;
  /** Whether it was sent, and the outcome is not known: its fields stay as they are until it is. */
  readonly isSent: boolean;
  /** The order that was cancelled to be placed again. */
  readonly instead: { readonly id: string; readonly reference: string | undefined } | undefined;
}

const NOON = '12:00';
const MAX_QUANTITY = 2n ** 31n - 1n;
/** Where the form is kept until its outcome is known, also over a reload; only in this tab. */
const STORED = 'store-orders-draft';

/** Without HTTPS there is no crypto.randomUUID. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');

/** Returns an empty form, or one with what an order has, to be placed instead of it. */
export function newDraft(by: string, order?: OrderRecord): Draft {
  const at = order?.shipDate === undefined ? undefined : new Date(order.shipDate);
  return {
    pet: String(order?.petId ?? ''),
    quantity: String(order?.quantity ?? 1),
    day: at ? dayText(at) : '',
    time: at ? at.toTimeString().slice(0, 'HH:MM'.length) : NOON,
    reference: '',
    idempotencyKey: newIdempotencyKey(),
    by,
    isSent: false,
    instead: order && { id: String(order.id), reference: order.reference },
  };
}

/** Returns the order of a form, or the field that is not valid and why. */
export function orderOf(draft: Draft) {
  const petId = parseWrittenId(draft.pet);
  if (petId === undefined || petId < 1n) {
    return { problem: 'Pet: enter its id, a number from 1.', field: 'pet' };
  }
  const quantity = parseWrittenId(draft.quantity);
  if (quantity === undefined || quantity < 1n || quantity > MAX_QUANTITY) {
    return { problem: 'Quantity: enter a number from 1.', field: 'quantity' };
  }
  const shipDate = draft.day === '' ? undefined : new Date(`${draft.day}T${draft.time || NOON}`);
  const year = shipDate?.getFullYear() ?? 1970;
  if (Number.isNaN(year) || year < 1970 || year > 9998) {
    return { problem: 'Ships: enter a day from 1970 on.', field: 'day' };
  }
  const reference = draft.reference === '' ? undefined : draft.reference;
  return { petId, quantity, shipDate, reference };
}

/** Returns the form that an API key has sent, if its outcome is not known. @param by the id of the key */
export function sentDraft(by: string): Draft | undefined {
  try {
    const draft: Draft | null = JSON.parse(sessionStorage.getItem(STORED) ?? 'null');
    return draft?.by === by ? draft : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a form that is about to be sent. */
export const keepDraft = (draft: Draft): void =>
  sessionStorage.setItem(STORED, JSON.stringify(draft));

/** Forgets the form whose outcome is known. */
export const forgetDraft = (): void => sessionStorage.removeItem(STORED);
