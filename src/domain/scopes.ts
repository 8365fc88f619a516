/** The scopes of the contract: each allows a key some operations. */
export const SCOPES = [
  'orders:read',
  'orders:place',
  'orders:cancel',
  'orders:ship',
  'changes:read',
  'webhooks:manage',
  'webhooks:manage-all',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a key that was created without any: all except access to the webhooks of other keys. */
export const IMPLIED_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope !== 'webhooks:manage-all',
);

/** Formats scopes as they are stored; undefined for a key that has IMPLIED_SCOPES. */
export function scopesText(scopes: readonly Scope[] | undefined): string | undefined {
  return scopes?.join(' ');
}

/** Parses stored scopes. Scopes of later releases are ignored. */
export function parseScopes(text: string | null | undefined): readonly Scope[] | undefined {
  if (text === null || text === undefined) return undefined;
  const names = text.split(' ');
  return SCOPES.filter((scope) => names.includes(scope));
}
