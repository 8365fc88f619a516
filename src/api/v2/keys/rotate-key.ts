import { keyTag, TICKET_MS } from '../../../domain/key-management.ts';
import { formatTimestamp } from '../../../domain/timestamp.ts';
import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { tagConditions } from '../../preconditions.ts';
import { secretOfRequest, secretReply } from './key-secret.ts';
import { actOnKey, named, namedKey } from './managed-key.ts';

/** How long a former secret stays valid by default. */
const OVERLAP_SECONDS = 86_400n;
/** A tag that no key has. */
const NO_TAG = '';

/** POST /keys/{keyId}/rotate: gives a key another secret, or a person an invitation to make it. */
export const rotateKey = operation('rotateKey', async (call, { store }) => {
  const { overlapSeconds = OVERLAP_SECONDS, invitation } = call.body ?? {};
  const key = await namedKey(call, store);
  const { id } = key;
  const made = secretOfRequest(call, ['rotateKey', id, call.body ?? {}]);
  // The first request has changed the key. So the store recognizes a repetition before it compares tags.
  const { refusal, ifTag = refusal && NO_TAG } = tagConditions(
    call.request,
    keyTag(key),
    'key_changed',
  );
  if (refusal !== undefined && made.name === undefined) return refuse(refusal);
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
  const asked = { act, ifTag, name: made.name, what, unmet: refusal };
  const outcome = await actOnKey(call, store, 'keys rotate', asked);
  return secretReply(call, store, outcome, made, { status: 200 });
});
