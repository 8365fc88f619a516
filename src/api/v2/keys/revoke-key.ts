import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { actOnKey, keyConditionsOf, keyReply, named, namedKey } from './managed-key.ts';

/** POST /keys/{keyId}/revoke */
export const revokeKey = operation('revokeKey', async (call, { store }) => {
  const key = await namedKey(call, store);
  const { refusal, ifTag } = keyConditionsOf(call.request, key);
  if (refusal !== undefined) return refuse(refusal);
  const act = { type: 'revoke', id: key.id } as const;
  const outcome = await actOnKey(call, store, 'keys revoke', { act, ifTag, what: named(key) });
  return keyReply(store, outcome.key);
});
