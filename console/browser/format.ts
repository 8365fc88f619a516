import {
  ConflictError,
  ConnectionError,
  ForbiddenError,
  InvalidRequestError,
  LimitError,
  NotFoundError,
  OrderChangedError,
  type OrderRecord,
  ResponseError,
  UnknownOutcomeError,
} from '@store-orders/client';
import { html, nothing } from 'lit-html';
import { caseless } from '../../protocol/caseless.ts';
import { DAY_MS, now } from './clock.ts';

/** The page is in English: so are its dates and numbers, as they are written in the user's region, with the user's clock of 12 or 24 hours. */
export const LOCALE = new Intl.Locale(
  navigator.languages.find((each) => /^en\b/.test(each)) ??
    `en-${new Intl.Locale(navigator.language).maximize().region ?? 'US'}`,
  {
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hourCycle!,
  },
);
const MONTH_DAY = { month: 'short', day: 'numeric' } as const;
const SHORT = { ...MONTH_DAY, hour: 'numeric', minute: '2-digit' } as const;
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, SHORT);
const DATE_TIME_YEAR = new Intl.DateTimeFormat(LOCALE, { ...SHORT, year: 'numeric' });
const TIME = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(LOCALE, MONTH_DAY);
const DAY_YEAR = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium' });
const NUMBER = new Intl.NumberFormat(LOCALE);

export const count = (value: bigint | number): string => NUMBER.format(value);

/** "1 order", "3 orders", "10,000+ orders" */
export const orders = (value: bigint | number, more = ''): string =>
  `${count(value)}${more} ${BigInt(value) === 1n && more === '' ? 'order' : 'orders'}`;

/** What is shown until something is read. */
export const waiting = ({ live }: { readonly live: string }, text: string): string =>
  live === 'lost' ? 'The service does not answer; it is tried again by itself.' : text;

/** The time of day of a moment. */
export const clockTime = (at: string | Date): string => TIME.format(new Date(at));

/** The day of a time in the user's time zone, with the year unless it is the current one. */
export function day(text: string | Date): string {
  const at = new Date(text);
  return (at.getFullYear() === now().getFullYear() ? DAY : DAY_YEAR).format(at);
}

const LONG_DAY = new Intl.DateTimeFormat(LOCALE, { ...MONTH_DAY, weekday: 'short' });

/** A day with its weekday. */
export const longDay = (at: Date): string => LONG_DAY.format(at);

/** A time in the user's time zone, with the year unless it is the current one; its title is the exact time. */
export function time(text: string | undefined) {
  if (text === undefined) return html`<span class="none">none</span>`;
  const at = new Date(text);
  const format = at.getFullYear() === now().getFullYear() ? DATE_TIME : DATE_TIME_YEAR;
  return html`<time datetime=${text} title=${text}>${format.format(at)}</time>`;
}

/** A time on paper, with its year. */
export const paperTime = (text: string | undefined): string =>
  text === undefined ? 'none' : DATE_TIME_YEAR.format(new Date(text));

/** A day on paper, with its year. */
export const paperDay = (text: string): string => DAY_YEAR.format(new Date(text));

/** How long ago a time was: "4 min ago". */
export function ago(text: string): string {
  const minutes = Math.floor((now().getTime() - Date.parse(text)) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return daysFrom(text);
}

/** The distance of a time from today, in the user's time zone: "in 8 days", "yesterday". */
export function daysFrom(text: string): string {
  const days = dayDifference(text);
  if (days === 0) return 'today';
  if (days === 1) return 'tomorrow';
  if (days === -1) return 'yesterday';
  const many = howLong(Math.abs(days));
  return days > 0 ? `in ${many}` : `${many} ago`;
}

const YEAR_DAYS = 365;

/** "3 days", "2 years"; more than a year is not counted by the day. */
function howLong(days: number): string {
  const [value, unit] = days <= YEAR_DAYS ? [days, 'day'] : [Math.floor(days / YEAR_DAYS), 'year'];
  return `${count(value)} ${unit}${value === 1 ? '' : 's'}`;
}

function dayDifference(text: string): number {
  const [at, today] = [new Date(text), now()].map((each) =>
    Date.UTC(each.getFullYear(), each.getMonth(), each.getDate()),
  ) as [number, number];
  return (at - today) / DAY_MS;
}

/** Whether an order should have been shipped before today. */
export function isOverdue({ status, shipDate }: OrderRecord): boolean {
  return status === 'pending' && shipDate !== undefined && dayDifference(shipDate) < 0;
}

/** When an order ships, relative to today: "in 8 days", "3 days overdue"; nothing for a cancelled order. @param isWhole with what it does: "Ships in 8 days" */
export function shipHint(order: OrderRecord, isWhole = false) {
  const { status, shipDate } = order;
  if (shipDate === undefined || status === 'cancelled') return nothing;
  const days = dayDifference(shipDate);
  if (isOverdue(order)) return html`<span class="late">${howLong(-days)} overdue</span>`;
  // It was imported: a shipment has the date of its day.
  const isPlanned = status === 'shipped' && days > 0;
  const hint = isPlanned ? `planned for ${day(shipDate)}` : daysFrom(shipDate);
  const verb = status === 'shipped' ? `Shipped${isPlanned ? ', ' : ' '}` : 'Ships ';
  return html`${isWhole ? html`<span class="verb hint">${verb}</span>` : nothing}<span class="hint">${hint}</span>`;
}

/** The user's time zone: "Europe/Berlin, UTC+1". */
export function timeZone(): string {
  const { timeZone: name } = Intl.DateTimeFormat().resolvedOptions();
  const offset = -now().getTimezoneOffset();
  const minutes = Math.abs(offset) % 60;
  const hours = Math.floor(Math.abs(offset) / 60);
  const sign = offset < 0 ? '−' : '+';
  if (offset === 0 && name === 'UTC') return name;
  return `${name}, UTC${offset === 0 ? '' : `${sign}${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`}`;
}

/** The reasons that the contract recommends, in words. */
export const REASONS: Readonly<Record<string, string>> = {
  customer_request: 'the customer asked for it',
  out_of_stock: 'out of stock',
  pet_unavailable: 'the pet is not available',
  duplicate: 'placed twice',
  payment_failed: 'the payment failed',
  other: 'another reason',
};

/** The reason that the contract recommends, if a text begins the code or the words of one of them; otherwise the text. */
export function reasonIn(text: string): string {
  const typed = text.trim().toLowerCase();
  const found = Object.entries(REASONS).filter((names) =>
    names.some((each) => each.startsWith(typed)),
  );
  return typed.length >= LEAST_TYPED && found.length === 1 ? found[0]![0] : text.trim();
}

/** Characters that choose a recommended reason. */
const LEAST_TYPED = 3;

const CODES: Readonly<Record<string, string>> = {
  order_already_shipped: 'it has already shipped',
  order_already_cancelled: 'it is already cancelled',
  order_changed: 'it has changed since it was shown here',
  order_not_found: 'there is no such order',
  cancel_limit_reached: 'this key has reached its limit of cancels in an hour',
  key_not_found: 'there is no such key',
  key_ended: 'the key has expired, or was revoked',
  last_key_manager: 'no other key could manage keys then; create one before',
  too_many_keys: 'the store has as many keys as can be created here',
};

/** Describes why an order, or a key, was not changed, for the staff of the store; a refusal that a later release has added has a message of its own. */
export const refusalInWords = ({ code, message }: Readonly<Record<'code' | 'message', string>>) =>
  code in CODES ? sentence(CODES[code]!) : message;

/** What limits count. */
const LIMITS: Readonly<Record<string, string>> = {
  cancel_limit_reached: 'cancels',
  key_change_limit_reached: 'changes of keys',
};

/** Whether the state of an order, or of a key, forbids what was asked. */
export const isRefusal = (error: unknown) =>
  error instanceof ConflictError ||
  error instanceof OrderChangedError ||
  error instanceof NotFoundError;

/** Describes an error for the staff of the store, as a sentence. */
export function inWords(error: unknown): string {
  const answer = error instanceof UnknownOutcomeError ? error.cause : error;
  // Of a later release, which has added the error.
  if (answer instanceof ResponseError && answer.isUnclear) return answer.message;
  if (isRefusal(error)) return refusalInWords(error);
  if (error instanceof ForbiddenError && error.code === 'exceeds_own_key') {
    return `Your key cannot give or change more than it has: ${error.problems.map(({ detail }) => detail).join('; ')}.`;
  }
  if (error instanceof InvalidRequestError && error.code === 'body_invalid') {
    const wrong = error.problems.map(({ pointer = '', detail }) => `${pointer.slice(1)} ${detail}`);
    return sentence(wrong.join('; '));
  }
  if (error instanceof ForbiddenError) return 'This key may not do that.';
  const limited = error instanceof LimitError ? LIMITS[error.code] : undefined;
  if (limited !== undefined) {
    const minutes = Math.ceil(((error as LimitError).retryAfterMs ?? 60_000) / 60_000);
    return `This key has reached its limit of ${limited} in an hour. The next is possible in ${minutes} min.`;
  }
  if (error instanceof UnknownOutcomeError || (error as Error).name === 'TimeoutError')
    return 'The store did not answer in time.';
  if (error instanceof ConnectionError) return 'The service cannot be reached.';
  if (error instanceof ResponseError && error.status >= 500) {
    return 'The store is not available now.';
  }
  return error instanceof Error ? error.message : String(error);
}

export const capital = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

export const sentence = (text: string): string => `${capital(text)}.`;

/** Of a text before what is marked, if it is longer than LONG_BEFORE, only its end is shown, so that the mark is in sight. */
const LONG_BEFORE = 39;
const SHOWN_BEFORE = 20;

/** A text in which the first place of a part is marked. */
export function marked(text: string, part: string) {
  const [before, found, after] = markedPart(text, part) ?? ['', '', text];
  if (found === '') return after;
  const isLong = before.length > LONG_BEFORE;
  const shown = isLong ? `…${[...before].slice(-SHOWN_BEFORE).join('')}` : before;
  return html`${shown}<mark>${found}</mark>${after}`;
}

/** Returns what is before the first place of a part, in any case, what is there, and what follows; undefined if it is nowhere. */
function markedPart(text: string, part: string): readonly [string, string, string] | undefined {
  const wanted = caseless(part);
  const has = (begin: number, end: number) => caseless(text.slice(begin, end)).includes(wanted);
  let end = 0;
  while (!has(0, end)) {
    if (end === text.length) return undefined;
    end += 1;
  }
  // An accent after the part belongs to its last letter.
  let begin = end;
  while (!has(begin, end)) begin -= 1;
  return [text.slice(0, begin), text.slice(begin, end), text.slice(end)];
}
