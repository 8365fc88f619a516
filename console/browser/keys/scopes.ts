import type { Key } from '@store-orders/client';
import { count } from '../format.ts';

type Limits = Partial<Pick<Key, 'cancelsPerHour' | 'placesPerHour'>>;

/** What a key can be allowed. */
interface Ability {
  readonly scope: string;
  /** "read", with an s for a key: "reads". */
  readonly verb: string;
  readonly object: string;
  readonly hint: string;
  /** The limit of its use. */
  readonly limit?: keyof Limits;
}

/** The scopes of the contract, in words. */
export const ABILITIES: readonly Ability[] = [
  {
    ...{ scope: 'orders:read', verb: 'read', object: 'orders' },
    hint: 'Lists, searches, prints, exports',
  },
  {
    ...{ scope: 'orders:place', verb: 'place', object: 'orders', hint: '' },
    limit: 'placesPerHour',
  },
  {
    ...{ scope: 'orders:ship', verb: 'ship', object: 'orders' },
    hint: 'With and without a tracking number',
  },
  {
    ...{ scope: 'orders:cancel', verb: 'cancel', object: 'orders', hint: 'Cannot be undone' },
    limit: 'cancelsPerHour',
  },
  {
    ...{ scope: 'changes:read', verb: 'follow', object: 'changes' },
    hint: 'Live lists and Activity need it',
  },
  {
    ...{ scope: 'webhooks:manage', verb: 'manage', object: 'webhooks' },
    hint: 'Its own; they get all changes',
  },
  {
    ...{ scope: 'webhooks:manage-all', verb: 'manage', object: 'all webhooks' },
    hint: 'Those of other keys, too',
  },
  {
    ...{ scope: 'keys:manage', verb: 'manage', object: 'keys' },
    hint: 'Creates and revokes keys within its own limits',
  },
];

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
