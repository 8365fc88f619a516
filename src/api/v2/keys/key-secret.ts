import { hash, randomBytes } from 'node:crypto';
import { type Sent, toJson } from '../../../../protocol/exact-json.ts';
import type { KeySecret } from '../../../../protocol/generated/records.ts';
import { secretDigest, secretMadeBy } from '../../../domain/api-key.ts';
import { keyTag } from '../../../domain/key-management.ts';
import { bearerOf } from '../../../http/request/authentication.ts';
import type { Reply } from '../../../http/request/reply.ts';
import type { CommandOf } from '../../../store/commands.ts';
import type { Store } from '../../../store/store.ts';
import type { Call } from '../../operation.ts';
import { optionalIdempotencyKeyOf } from '../orders/idempotency-key.ts';
import { recordReply } from '../replies.ts';
import { type KeyActed, managedKeys } from './managed-key.ts';

/** A secret, or ticket, that a request makes. */
interface NewSecret {
  readonly salt: string;
  readonly secret: string;
  readonly digest: Uint8Array;
  /** So that the request can be repeated; undefined without an Idempotency-Key. */
  readonly name: CommandOf<'manageKey'>['name'];
}

/** Makes the secret of a request. @param asked identifies the request for repetitions; JSON */
export function secretOfRequest(
  { request, key }: Pick<Call, 'request' | 'key'>,
  asked: unknown,
): NewSecret {
  const idempotencyKey = optionalIdempotencyKeyOf(request);
  const salt = randomBytes(32).toString('base64url');
  const secret = secretMadeBy(bearerOf(request), salt, key.environment);
  const digest = hash('sha256', toJson(asked), 'base64url');
  const name =
    idempotencyKey === undefined ? undefined : { by: key.id, idempotencyKey, digest, salt };
  return { salt, secret, digest: secretDigest(secret), name };
}

/** A key with the secret, or ticket, that this request, or the first one with its Idempotency-Key, has made, if it is still that of the key. */
export async function secretReply(
  { request }: Pick<Call, 'request'>,
  store: Store,
  outcome: KeyActed,
  made: NewSecret,
  { status, headers = [] }: { readonly status: 200 | 201; readonly headers?: readonly string[] },
): Promise<Reply<Sent<KeySecret>>> {
  const { key, effect } = outcome;
  const isReplay = effect === 'replayed';
  const salt = isReplay ? outcome.salt : made.salt;
  const text = salt && secretMadeBy(bearerOf(request), salt, key.environment);
  const digest = text && Buffer.from(secretDigest(text));
  const isOf = (secret: { readonly digest: Uint8Array } | undefined) =>
    digest && secret && digest.equals(secret.digest) ? text : undefined;
  const [record] = await managedKeys(store, [key]);
  const body = { key: record!, secret: isOf(key), invitation: isOf(key.ticket) };
  const replayed = isReplay ? ['idempotent-replayed', 'true'] : [];
  return recordReply(body, { status, tag: keyTag(key), headers: [...headers, ...replayed] });
}
