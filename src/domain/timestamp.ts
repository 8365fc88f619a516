/** RFC 3339 date-time: any offset, any number of fraction digits, "T" and "Z" in either case. */
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
/** The range of RFC 3339 in UTC: 0000-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z. */
const EARLIEST = -62_167_219_200_000;
export const LATEST = 253_402_300_799_999;

/**
 * Parses an RFC 3339 date-time. Digits beyond the millisecond are truncated. A leap second (23:59:60 UTC at the end
 * of a month) is read as the following second.
 * @returns milliseconds since the epoch; undefined if `text` is not a date-time, the day or time does not exist, or
 *   it is outside the years 0000 to 9999 in UTC
 */
export function parseTimestamp(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const [hour, minute, second] = [part(4), part(5), part(6)];
  const [offsetHour, offsetMinute] = [part(9), part(10)];
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) {
    return undefined;
  }
  // Date.UTC maps the years 0 to 99 to 1900 to 1999; setUTCFullYear does not.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;

  const offset = (match[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * MINUTE;
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const time =
    date.getTime() + (hour * 60 + minute) * MINUTE + second * 1000 + milliseconds - offset;
  if (second === 60 && !isMonthStart(time - milliseconds)) return undefined;
  return time >= EARLIEST && time <= LATEST ? time : undefined;
}

/**
 * Parses a bound of a filter. Recorded times have milliseconds, so "from" and "before" are exact if a bound with more digits is rounded up.
 * @returns as `parseTimestamp`, or LATEST + 1
 */
export function parseBound(text: string): number | undefined {
  const time = parseTimestamp(text);
  return time !== undefined && /\.\d{3}\d*[1-9]/.test(text) ? time + 1 : time;
}

/** Returns the expected form for a text that `parseTimestamp` rejects, to complete "shipDate must be …". */
export function timestampProblem(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}[Tt][\d:.]+[+-]\d{4}$/.test(text)) {
    return 'a date-time whose offset has a colon, such as +01:00';
  }
  if (/^\d{4}-\d{2}-\d{2}[Tt][\d:.]+$/.test(text)) {
    return 'a date-time with an offset, such as 2026-12-01T09:30:00Z or 2026-12-01T10:30:00+01:00';
  }
  if (DATE_TIME.test(text)) return 'an existing day and time in the years 0000 to 9999';
  return 'a date-time with an offset, such as 2026-12-01T09:30:00Z';
}

const MAX_DAY_TEXTS = 1_000;
/** Texts of recent days, by days since the epoch: a list has many times, but few days. */
const dayTexts = new Map<number, string>();

/** Formats a time as RFC 3339 in UTC with milliseconds: 2026-11-20T05:18:56.000Z */
export function formatTimestamp(time: number): string {
  const day = Math.floor(time / DAY);
  const seconds = Math.floor(time / 1000) - day * (DAY / 1000);
  const hour = TWO_DIGITS[Math.floor(seconds / 3600)];
  const minute = TWO_DIGITS[Math.floor(seconds / 60) % 60];
  // The time may be before 1970.
  const milliseconds = THREE_DIGITS[time - Math.floor(time / 1000) * 1000];
  return `${dayText(day)}${hour}:${minute}:${TWO_DIGITS[seconds % 60]}.${milliseconds}Z`;
}

/** Returns the beginning of a day's times: 2026-11-20T */
function dayText(day: number): string {
  let text = dayTexts.get(day);
  if (text === undefined) {
    text = new Date(day * DAY).toISOString().slice(0, -'05:18:56.000Z'.length);
    if (dayTexts.size >= MAX_DAY_TEXTS) dayTexts.clear();
    dayTexts.set(day, text);
  }
  return text;
}

/** Texts of two and of three digits, by their numbers: formatting them anew takes most of the time of a timestamp. */
const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));
const THREE_DIGITS = Array.from({ length: 1000 }, (_, value) => String(value).padStart(3, '0'));

function isMonthStart(time: number): boolean {
  const date = new Date(time);
  return date.getUTCDate() === 1 && time % DAY === 0;
}

/** Formats a time that need not be there. */
export function timeText(at: number | undefined): string | undefined {
  return at === undefined ? undefined : formatTimestamp(at);
}
