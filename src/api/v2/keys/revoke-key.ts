import { operation } from '../../operation.ts';
import { actOnKey, keyReply, keyToChange, named } from './managed-key.ts';

/** POST /keys/{keyId}/revoke */
export const revokeKey = operation('revokeKey', async (call, { store }) => {
  const { key, ifTag } = await keyToChange(call, store);
  const act = { type: 'revoke', id: key.id } as const;
  const outcome = await actOnKey(call, store, 'keys revoke', { act, ifTag, what: named(key) });
  return keyReply(store, outcome.key);
});
