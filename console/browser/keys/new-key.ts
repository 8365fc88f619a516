import type { Key, NewKey } from '@store-orders/client';
import { DAY_MS, now } from '../clock.ts';
import type { IconName } from '../icons.ts';
import { dayStart } from '../list/range.ts';
import { newIdempotencyKey } from '../placing/draft.ts';
import { ABILITIES } from './scopes.ts';

/** What keys usually may do. */
export const PRESETS = [
  {
    ...{ id: 'clerk', name: 'Clerk', icon: 'truck', user: 'person' },
    scopes: ['orders:read', 'orders:ship', 'orders:cancel', 'changes:read'],
    cancelsPerHour: 20n,
  },
  {
    ...{ id: 'support', name: 'Support', icon: 'search', user: 'person' },
    scopes: ['orders:read', 'orders:place', 'orders:cancel', 'changes:read'],
    cancelsPerHour: 50n,
  },
  {
    ...{ id: 'integrator', name: 'Integrator', icon: 'link', user: 'program' },
    scopes: ['orders:read', 'orders:place', 'orders:cancel', 'changes:read', 'webhooks:manage'],
    cancelsPerHour: undefined,
  },
  {
    ...{ id: 'reader', name: 'Read only', icon: 'eye', user: 'person' },
    scopes: ['orders:read', 'changes:read'],
    cancelsPerHour: undefined,
  },
] as const satisfies readonly {
  readonly icon: IconName;
  readonly user: KeyDraft['user'];
  readonly [name: string]: unknown;
}[];

export type Preset = (typeof PRESETS)[number];

/** The form of a new key. */
export interface KeyDraft {
  readonly preset: Preset['id'] | undefined;
  readonly name: string;
  /** A person is invited; the secret of a program is shown. */
  readonly user: 'person' | 'program';
  readonly scopes: readonly string[];
  /** As typed; empty for as many as the own key. */
  readonly cancelsPerHour: string;
  readonly placesPerHour: string;
  readonly ends: '30' | '90' | 'own' | 'day';
  /** YYYY-MM-DD */
  readonly day: string;
  /** What was sent, while its outcome is not known: it is sent again unchanged. */
  readonly sent: NewKey | undefined;
  /** Identifies the request, so that a repetition creates no second key. */
  readonly idempotencyKey: string;
  readonly isActing: boolean;
  readonly problem: string | undefined;
}

/** A form with the choices of a preset that the own key permits. */
export function draftOf(preset: Preset, own: Key, name = ''): KeyDraft {
  const { cancelsPerHour } = preset;
  const most = own.cancelsPerHour;
  const isLess = most !== undefined && (cancelsPerHour === undefined || most < cancelsPerHour);
  return {
    ...{ preset: preset.id, name, user: preset.user, ends: '90', day: '' },
    scopes: preset.scopes.filter((each) => own.scopes.includes(each)),
    cancelsPerHour: String((isLess ? most : cancelsPerHour) ?? ''),
    placesPerHour: String(own.placesPerHour ?? ''),
    ...{ sent: undefined, idempotencyKey: newIdempotencyKey(), isActing: false },
    problem: undefined,
  };
}

/** When the key of a form ends, with the own key at the latest; undefined for never, or a day that is not set. */
export function endOf({ ends, day }: Pick<KeyDraft, 'ends' | 'day'>, own: Key): Date | undefined {
  const last = own.expiresAt === undefined ? undefined : new Date(own.expiresAt);
  const asked = askedEnd(ends, day);
  if (asked === undefined) return last;
  return last !== undefined && last < asked ? last : asked;
}

/** A day is included. */
function askedEnd(ends: KeyDraft['ends'], day: string): Date | undefined {
  if (ends === 'own') return undefined;
  if (ends !== 'day') return new Date(now().getTime() + Number(ends) * DAY_MS);
  const start = dayStart(day);
  if (start === undefined) return undefined;
  return new Date(start.getFullYear(), start.getMonth(), start.getDate(), 23, 59, 59);
}

export const NO_DAY = 'Expires: a day from today on.';

export const isDayMissing = ({ ends, day }: { readonly ends: string; readonly day: string }) =>
  ends === 'day' && dayStart(day) === undefined;

/** The largest limit of the contract. */
const MAX_PER_HOUR = 1_000_000_000n;

/** Returns the key that a form describes, or what is wrong with it. */
export function newKeyOf(
  draft: KeyDraft,
  own: Key,
): NewKey | { readonly problem: string; readonly field: string } {
  const { scopes, ends, user } = draft;
  const name = draft.name.trim();
  if (name === '')
    return { problem: 'Name: a person or a program, such as “Noor, packing”.', field: 'name' };
  if (scopes.length === 0)
    return { problem: 'May: a key that may do nothing is of no use.', field: 'scope' };
  const limits: { cancelsPerHour?: bigint; placesPerHour?: bigint } = {};
  for (const { scope, limit, verb } of ABILITIES) {
    if (limit === undefined || !scopes.includes(scope)) continue;
    const typed = draft[limit].trim();
    if (typed === '') continue;
    const most = own[limit] ?? MAX_PER_HOUR;
    const value = /^\d{1,10}$/.test(typed) ? BigInt(typed) : 0n;
    if (value < 1n || value > most)
      return { problem: `${verb}s an hour: a number from 1 to ${most}.`, field: limit };
    limits[limit] = value;
  }
  const end = endOf(draft, own);
  if (isDayMissing(draft) || (end !== undefined && end <= now()))
    return { problem: NO_DAY, field: 'day' };
  return {
    ...{ name, scopes: scopes as NewKey['scopes'], ...limits },
    // As late as the own key, which is what the service does without it.
    ...(end !== undefined && ends !== 'own' && { expiresAt: end.toISOString() }),
    ...(user === 'person' && { invitation: true }),
  };
}
