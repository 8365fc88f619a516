import type { Sent } from '../../../../protocol/exact-json.ts';
import type { ManagedKey } from '../../../../protocol/generated/records.ts';
import { type ApiKey, isKeyName } from '../../../domain/api-key.ts';
import { keyTag } from '../../../domain/key-management.ts';
import { parseTimestamp } from '../../../domain/timestamp.ts';
import {
  type ErrorReply,
  invalid,
  Refused,
  type Reply,
  refuse,
  refuseScope,
} from '../../../http/request/reply.ts';
import { managedKeyRecord } from '../../../records/key-json.ts';
import { actionOfKey } from '../../../store/audit.ts';
import type { CommandOf, KeyOutcome } from '../../../store/commands.ts';
import type { Store } from '../../../store/store.ts';
import type { Call } from '../../operation.ts';
import { tagConditions } from '../../preconditions.ts';
import { applied, secondsUntil } from '../../submit.ts';
import { recordReply } from '../replies.ts';

type KeyCall = Call<'getKeyById' | 'updateKey' | 'rotateKey' | 'revokeKey'>;

/** Returns the key that a request names. @throws Refused if there is none with this id */
export async function namedKey({ parameters }: KeyCall, store: Store): Promise<ApiKey> {
  const key = await store.key(parameters.keyId);
  if (key === undefined) throw new Refused(refuse('key_not_found'));
  return key;
}

export async function managedKeys(
  store: Store,
  keys: readonly ApiKey[],
): Promise<Sent<ManagedKey>[]> {
  const webhooks = await store.webhookCounts(keys.map(({ id }) => id));
  const now = Date.now();
  return keys.map((key) => managedKeyRecord(key, webhooks.get(key.id) ?? 0, now));
}

export async function keyReply(store: Store, key: ApiKey): Promise<Reply<Sent<ManagedKey>>> {
  const [record] = await managedKeys(store, [key]);
  return recordReply(record!, { tag: keyTag(key) });
}

/** Returns the key that a request changes, with its `tagConditions`. @throws Refused if there is none, or a precondition does not hold */
export async function keyToChange(call: KeyCall, store: Store) {
  const key = await namedKey(call, store);
  return { key, ...tagConditions(call.request, keyTag(key), 'key_changed') };
}

/** The outcome of an act that was not refused. */
export type KeyActed = Extract<KeyOutcome, { key: ApiKey }>;

/**
 * Carries out an act on a key, which is recorded with the API key of the request.
 * @param name of the act, in the audit
 * @param unmet the refusal if the tag is another one
 * @throws Refused
 */
export async function actOnKey(
  call: Pick<Call, 'key' | 'answerBy'>,
  store: Store,
  name: string,
  {
    what,
    unmet = 'key_changed',
    ...asked
  }: Pick<CommandOf<'manageKey'>, 'act' | 'ifTag' | 'name'> & {
    readonly what: string;
    readonly unmet?: 'key_changed' | 'precondition_failed' | undefined;
  },
): Promise<KeyActed> {
  const { id, digest } = call.key;
  const done = { action: actionOfKey(id, name, what), manager: { id, digest }, at: Date.now() };
  const outcome = await applied(call, store, { type: 'manageKey', ...asked, ...done });
  if ('key' in outcome) return outcome;
  if (outcome.refusal === 'key_changed') throw new Refused(refuse(unmet));
  throw new Refused(refusalOf(outcome));
}

function refusalOf(outcome: Exclude<KeyOutcome, KeyActed>): ErrorReply {
  const { refusal } = outcome;
  if (typeof refusal !== 'string') return invalid('exceeds_own_key', refusal.problems);
  if (refusal === 'scope_missing') return refuseScope('keys:manage');
  const headers = 'retryAt' in outcome ? ['retry-after', secondsUntil(outcome.retryAt)] : undefined;
  return refuse(refusal, headers);
}

/** Parses when a key ends. @returns milliseconds since the epoch @throws Refused if that is not after `now` */
export function futureTime(text: string, now: number): number {
  const at = parseTimestamp(text)!;
  if (at > now) return at;
  const problem = { pointer: '/expiresAt', detail: 'must be in the future' };
  throw new Refused(invalid('body_invalid', [problem]));
}

/** Returns the name of a key. @throws Refused unless it is printable */
export function checkedName(name: string): string {
  if (isKeyName(name)) return name;
  const problem = { pointer: '/name', detail: 'must be printable characters, and not only blanks' };
  throw new Refused(invalid('body_invalid', [problem]));
}

export function limitOf(perHour: bigint | undefined): number | undefined {
  return perHour === undefined ? undefined : Number(perHour);
}

/** Names a key in the audit. */
export function named({ id, name }: ApiKey): string {
  return `${id} "${name}"`;
}
