import type { Key } from '@store-orders/client';
import { count } from '../format.ts';

type Limits = Partial<Pick<Key, 'cancelsPerHour' | 'placesPerHour'>>;

/** The scopes of the contract, in words; a key "reads". The limit is that of its use. */
const IN_WORDS: readonly (readonly [
  ...[scope: string, verb: string, object: string, hint: string, limit?: keyof Limits],
])[] = [
  ['orders:read', 'read', 'orders', 'Lists, searches, prints, exports'],
  ['orders:place', 'place', 'orders', '', 'placesPerHour'],
  ['orders:ship', 'ship', 'orders', 'With and without a tracking number'],
  ['orders:cancel', 'cancel', 'orders', 'Cannot be undone', 'cancelsPerHour'],
  ['changes:read', 'follow', 'changes', 'Live lists and Activity need it'],
  ['webhooks:manage', 'manage', 'webhooks', 'Its own; they get all changes'],
  ['webhooks:manage-all', 'manage', 'all webhooks', 'Those of other keys, too'],
  ['keys:manage', 'manage', 'keys', 'Creates and revokes keys within its own limits'],
];

/** What a key can be allowed. */
export const ABILITIES = IN_WORDS.map(([scope, verb, object, hint, limit]) => ({
  ...{ scope, verb, object, hint, limit },
}));

/** What a key may do: "reads, cancels up to 20 an hour, manages keys". A scope of a later release is shown as it is. */
export function abilitiesOf({
  scopes,
  ...limits
}: Limits & { readonly scopes: readonly string[] }): string {
  const known = ABILITIES.filter(({ scope }) => scopes.includes(scope));
  const words = known.map(({ verb, object, limit }) => {
    const perHour = limit && limits[limit];
    const what = object === 'orders' ? '' : ` ${object}`;
    return `${verb}s${what}${perHour === undefined ? '' : ` up to ${count(perHour)} an hour`}`;
  });
  const others = scopes.filter((each) => !known.some(({ scope }) => scope === each));
  return [...words, ...others.map((each) => `has ${each}`)].join(', ') || 'has no scopes';
}
