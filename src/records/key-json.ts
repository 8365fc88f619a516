import type { Sent } from '../../protocol/exact-json.ts';
import type { Key, ManagedKey } from '../../protocol/generated/records.ts';
import { type ApiKey, IMPLIED_SCOPES, keyStatus } from '../domain/api-key.ts';
import { formatTimestamp, timeText } from '../domain/timestamp.ts';

/** Returns v2's Key record, for the client with this key. */
export function keyRecord(key: ApiKey): Sent<Key> {
  const { id, name, environment, scopes, cancelsPerHour, placesPerHour, expiresAt } = key;
  return {
    ...{ id, name, environment },
    scopes: scopes ?? IMPLIED_SCOPES,
    ...{ cancelsPerHour, placesPerHour },
    expiresAt: timeText(expiresAt),
  };
}

/** Returns v2's ManagedKey record. @param webhooks how many it has created that exist @param now milliseconds since the epoch */
export function managedKeyRecord(key: ApiKey, webhooks: number, now: number): Sent<ManagedKey> {
  const { former, ticket, createdAt, createdBy, lastUsedAt, revokedAt } = key;
  const isReplaced = former !== undefined && former.until > now;
  return {
    ...keyRecord(key),
    state: keyStatus(key, now),
    createdAt: formatTimestamp(createdAt),
    createdBy,
    lastUsedAt: timeText(lastUsedAt),
    revokedAt: timeText(revokedAt),
    ...(isReplaced && {
      formerSecretUntil: timeText(former.until),
      formerSecretLastUsedAt: timeText(former.lastUsedAt),
    }),
    invitedUntil: timeText(ticket?.until),
    webhooks,
  };
}
