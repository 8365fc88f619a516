import { newSecret, secretDigest } from '../../../domain/api-key.ts';
import { refuse } from '../../../http/request/reply.ts';
import { keyRecord } from '../../../records/key-json.ts';
import { actionOfKey } from '../../../store/audit.ts';
import { operation } from '../../operation.ts';
import { applied } from '../../submit.ts';
import { recordReply } from '../replies.ts';
import { named } from './managed-key.ts';

/** POST /key/redeem: makes the secret of the key of the request, which was authenticated by the ticket of an invitation. */
export const redeemInvitation = operation('redeemInvitation', async (call, { store }) => {
  const { id, digest: ticket, environment, by } = call.key;
  if (by !== 'ticket') return refuse('no_invitation');
  const secret = newSecret(environment);
  const action = actionOfKey(id, 'keys redeem', named(call.key));
  const made = { digest: secretDigest(secret), action, at: Date.now() };
  const outcome = await applied(call, store, { type: 'redeemInvitation', id, ticket, ...made });
  if (outcome === 'no_invitation') return refuse(outcome);
  return recordReply({ key: keyRecord(outcome), secret });
});
