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

const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const NUMBER = new Intl.NumberFormat();

/** A time where the reader is; the exact one is its title. */
export function time(text: string | undefined) {
  if (text === undefined) return html`<span class="none">none</span>`;
  return html`<time datetime=${text} title=${text}>${DATE_TIME.format(new Date(text))}</time>`;
}

export const count = (value: bigint): string => NUMBER.format(value);

/** What went wrong, in words for the staff of the store. */
export function inWords(error: unknown): string {
  if (error instanceof ConflictError) {
    return error.code === 'order_already_shipped'
      ? 'It has already shipped.'
      : 'It is already cancelled.';
  }
  if (error instanceof OrderChangedError)
    return 'It has changed since it was shown here. Look at it again.';
  if (error instanceof NotFoundError) return 'There is no such order.';
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
