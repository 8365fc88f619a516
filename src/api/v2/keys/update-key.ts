import { toJson } from '../../../../protocol/exact-json.ts';
import { SCOPES } from '../../../domain/api-key.ts';
import { operation } from '../../operation.ts';
import {
  actOnKey,
  checkedName,
  futureTime,
  keyReply,
  keyToChange,
  limitOf,
  named,
} from './managed-key.ts';

/** PATCH /keys/{keyId}: makes a key narrower, renews or renames it, or ends its former secret. */
export const updateKey = operation('updateKey', async (call, { store }) => {
  const { name, scopes, cancelsPerHour, placesPerHour, expiresAt, formerSecretUntil } = call.body;
  const { key, ifTag } = await keyToChange(call, store);
  const changes = {
    name: name === undefined ? undefined : checkedName(name),
    scopes: scopes && SCOPES.filter((scope) => scopes.includes(scope)),
    cancelsPerHour: limitOf(cancelsPerHour),
    placesPerHour: limitOf(placesPerHour),
    expiresAt: endOf(expiresAt),
    endsFormer: formerSecretUntil === null,
  } as const;
  const act = { type: 'update', id: key.id, changes } as const;
  const what = `${named(key)}: ${toJson(call.body)}`;
  const outcome = await actOnKey(call, store, 'keys update', { act, ifTag, what });
  return keyReply(store, outcome.key);
});

function endOf(expiresAt: string | null | undefined): number | 'never' | undefined {
  if (expiresAt === undefined) return undefined;
  return expiresAt === null ? 'never' : futureTime(expiresAt, Date.now());
}
