import { keyTag, TICKET_MS } from '../../../domain/key-management.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import { operation } from '../../operation.ts';
import { tagConditions } from '../../preconditions.ts';
import { secretOfRequest, secretReply } from './key-secret.ts';
import { actOnKey, named, namedKey } from './managed-key.ts';

/** How long a former secret stays valid by default. */
const OVERLAP_SECONDS = 86_400n;

/** POST /keys/{keyId}/rotate: gives a key another secret, or a person an invitation to make it. */
export const rotateKey = operation('rotateKey', async (call, { store }) => {
  const { overlapSeconds = OVERLAP_SECONDS, invitation } = call.body ?? {};
  const key = await namedKey(call, store);
  const { id } = key;
  const made = secretOfRequest(call, ['rotateKey', id, call.body ?? {}]);
  const { refusal: unmet, ifTag } = tagConditions(
    call.request,
    keyTag(key),
    'key_changed',
    made.name !== undefined,
  );
  const now = Date.now();
  const { digest } = made;
  const formerUntil = overlapSeconds === 0n ? undefined : now + Number(overlapSeconds) * 1_000;
  const act = invitation
    ? ({ type: 'invite', id, ticket: { digest, until: now + TICKET_MS } } as const)
    : ({ type: 'rotate', id, digest, formerUntil } as const);
  const end =
    formerUntil === undefined
      ? 'without an overlap'
      : `the former secret is valid until ${formatTimestamp(formerUntil)}`;
  const what = `${named(key)}, ${invitation ? 'by invitation' : end}`;
  const asked = { act, ifTag, name: made.name, what, unmet };
  const outcome = await actOnKey(call, store, 'keys rotate', asked);
  return secretReply(call, store, outcome, made, { status: 200 });
});
