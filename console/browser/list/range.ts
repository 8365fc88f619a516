import { now } from '../clock.ts';

/** Days in the user's time zone: a preset, or FROM..TO, both YYYY-MM-DD, inclusive, and possibly empty; empty for any day. */
export type Range = string;

interface Preset {
  readonly name: string;
  /** The first and the last day relative to today; undefined for no limit. */
  readonly days: readonly [from: number | undefined, to: number | undefined];
}

export const PRESETS: Readonly<Record<string, Preset>> = {
  today: { name: 'Today', days: [0, 0] },
  overdue: { name: 'Overdue', days: [undefined, -1] },
  next7: { name: 'Next 7 days', days: [0, 6] },
  last7: { name: 'Last 7 days', days: [-6, 0] },
  last30: { name: 'Last 30 days', days: [-29, 0] },
};

/** The filters that are ranges of days. */
export type RangeName = 'ships' | 'placed' | 'changed';

const PAST_PRESETS = ['today', 'last7', 'last30'];

export const PRESETS_OF: Readonly<Record<RangeName, readonly string[]>> = {
  ships: ['today', 'overdue', 'next7'],
  placed: PAST_PRESETS,
  changed: PAST_PRESETS,
};

/** Returns the range that a text names; empty if it names none. */
export function rangeIn(text: string, presets: readonly string[]): Range {
  if (presets.includes(text)) return text;
  const [, from = '', to = ''] = /^([\d-]*)\.\.([\d-]*)$/.exec(text) ?? [];
  return rangeOf(from, to);
}

/** Returns the range of two days; days that are incomplete or do not exist are left out. */
export function rangeOf(from: string, to: string): Range {
  const [first, last] = [from, to].map((day) => (dayStart(day) === undefined ? '' : day));
  return first === '' && last === '' ? '' : `${first}..${last}`;
}

/** Whether the days of a range change with the day. */
export const isRelative = (range: Range): boolean => range in PRESETS;

/** Returns the two days of a range, as YYYY-MM-DD or empty. */
export function daysOf(range: Range): readonly [from: string, to: string] {
  const preset = PRESETS[range];
  if (preset !== undefined) {
    const [from, to] = preset.days.map((days) => (days === undefined ? '' : dayText(today(days))));
    return [from!, to!];
  }
  const [from = '', to = ''] = range.split('..');
  return [from, to];
}

/** Returns when a range begins, and when the day after it begins. */
export function boundsOf(range: Range) {
  const [from, to] = daysOf(range);
  return { from: dayStart(from), before: dayStart(to, 1) };
}

/** The day after the last one must have a year of four digits, too. */
const LAST_YEAR = 9998;

/** The beginning of a day, or of the day `later` days after it, in the user's time zone; undefined for an incomplete date. */
export function dayStart(day: string, later = 0): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const [year, month, date] = day.split('-').map(Number) as [number, number, number];
  // A year begins with zeros while it is typed.
  if (year < 1900 || year > LAST_YEAR) return undefined;
  const start = new Date(year, month - 1, date);
  // Date reads month 13 as the first month of the next year.
  if (start.getMonth() !== month - 1 || start.getDate() !== date) return undefined;
  start.setDate(date + later);
  return start;
}

/** The beginning of the day that is so many days after that of a time, in the user's time zone. */
export const daysAfter = (at: Date, days: number): Date =>
  new Date(at.getFullYear(), at.getMonth(), at.getDate() + days);

/** The beginning of a day relative to today, by the clock of the service. */
export const today = (days = 0): Date => daysAfter(now(), days);

/** Writes a day as YYYY-MM-DD. */
export function dayText(day: Date): string {
  const two = (part: number) => String(part).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}
