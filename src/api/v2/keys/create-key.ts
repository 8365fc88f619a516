import { digestWithoutSecret, newApiKey, SCOPES } from '../../../domain/api-key.ts';
import { TICKET_MS } from '../../../domain/key-management.ts';
import { refuse } from '../../../http/request/reply.ts';
import { operation } from '../../operation.ts';
import { failsPrecondition } from '../../preconditions.ts';
import { secretOfRequest, secretReply } from './key-secret.ts';
import { actOnKey, checkedName, futureTime, limitOf, named } from './managed-key.ts';

/** POST /keys: creates a key within the API key of the request; the response has its secret, or the ticket of an invitation. */
export const createKey = operation('createKey', async (call, { store, basePath }) => {
  const { body, key: own } = call;
  if (failsPrecondition(call.request, true)) return refuse('precondition_failed');
  const now = Date.now();
  const made = secretOfRequest(call, ['createKey', body]);
  const { name, scopes, invitation, expiresAt } = body;
  const key = newApiKey(made.secret, {
    name: checkedName(name),
    environment: own.environment,
    now,
    createdBy: own.id,
    secretBy: own.id,
    scopes: SCOPES.filter((scope) => scopes.includes(scope)),
    cancelsPerHour: limitOf(body.cancelsPerHour) ?? own.cancelsPerHour,
    placesPerHour: limitOf(body.placesPerHour) ?? own.placesPerHour,
    expiresAt: expiresAt === undefined ? own.expiresAt : futureTime(expiresAt, now),
  });
  const ticket = { digest: made.digest, until: now + TICKET_MS };
  const withTicket = { ...key, ticket, digest: digestWithoutSecret(ticket) };
  const act = { type: 'create', key: invitation ? withTicket : key } as const;
  const what = `${named(key)}${invitation ? ', by invitation' : ''}`;
  const outcome = await actOnKey(call, store, 'keys create', { act, name: made.name, what });
  const location = ['location', `${basePath}/keys/${outcome.key.id}`];
  return secretReply(call, store, outcome, made, { status: 201, headers: location });
});
