import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  LimitError,
  NotFoundError,
  OrderChangedError,
  ResponseError,
  UnknownOutcomeError,
} from '@store-orders/client';
import { html } from 'lit-html';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const NUMBER = new Intl.NumberFormat();

/** A time where the reader is; the exact one is its title. */
export function time(text: string | undefined) {
  if (text === undefined) return html`<span class="none">none</span>`;
  const date = new Date(text);
  return html`<time datetime=${text} title=${text}>${DATE.format(date)} <span class="less">${TIME.format(date)}</span></time>`;
}

/** A time where the reader is, and the exact one. */
export function exactTime(text: string | undefined) {
  if (text === undefined) return time(text);
  const date = new Date(text);
  return html`<time datetime=${text}>${DATE.format(date)} ${TIME.format(date)} <small>${text}</small></time>`;
}

/** The day of a time, where the reader is. */
export const day = (text: string): string => DAY.format(new Date(text));

export const count = (value: bigint): string => NUMBER.format(value);

const CODES: Readonly<Record<string, string>> = {
  order_already_shipped: 'It has already shipped.',
  order_already_cancelled: 'It is already cancelled.',
  order_changed: 'It has changed since it was shown here. Look at it again.',
  order_not_found: 'There is no such order.',
  cancel_limit_reached: 'This key has reached its limit of cancels in an hour.',
};

/** Why an order was not changed, in words for the staff of the store. */
export const codeInWords = (code: string): string => CODES[code] ?? code;

/** What went wrong, in words for the staff of the store. */
export function inWords(error: unknown): string {
  if (error instanceof ConflictError) return codeInWords(error.code);
  if (error instanceof OrderChangedError || error instanceof NotFoundError) {
    return codeInWords(error.code);
  }
  if (error instanceof ForbiddenError) return 'This key may not do that.';
  if (error instanceof LimitError) {
    const minutes = Math.ceil((error.retryAfterMs ?? 60_000) / 60_000);
    return `This key has reached its limit of cancels in an hour. The next is possible in ${minutes} min.`;
  }
  if (error instanceof UnknownOutcomeError) {
    return 'The store did not confirm in time, so it is not known whether this happened. Look at the order again.';
  }
  if (error instanceof ConnectionError) return 'The service cannot be reached.';
  if (error instanceof ResponseError && error.status >= 500)
    return 'The store is not available now.';
  return error instanceof Error ? error.message : String(error);
}
