import { Command, Option } from 'commander';
import { toJson } from '../../protocol/exact-json.ts';
import {
  type ApiKey,
  ENVIRONMENTS,
  type Environment,
  isKeyName,
  keyStatus,
  NAMED_SCOPES,
  newApiKey,
  newSecret,
  SCOPES,
  type Scope,
  secretDigest,
} from '../domain/api-key.ts';
import { formatTimestamp, timeText } from '../domain/timestamp.ts';
import { DATE, DURATION, oneOf } from '../service/settings/parsers.ts';
import type { Store } from '../store/store.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  withStore,
} from './command-database.ts';
import {
  argument,
  CommandFailed,
  naturalNumber,
  printRows,
  repeated,
  UsageError,
  writeErr,
  writeJson,
  writeOut,
  writeSecret,
} from './terminal/terminal.ts';

const MAX_PER_HOUR = 1_000_000_000;
/** The scopes of a key that was created without any. */
const BY_DEFAULT = `all but ${NAMED_SCOPES.join(' and ')}`;

export function keysCommand(): Command {
  const list = databaseCommand(
    'list',
    'list API keys without their secrets; last use is accurate to the hour',
    'npx store-orders keys list\nnpx store-orders keys list --json',
  )
    .option('--json', 'print a JSON array')
    .action(listKeys);
  const revoke = databaseCommand(
    'revoke',
    'revoke an API key; running servers reject it within a second',
    'npx store-orders keys revoke key_0aB3dE6gH\nnpx store-orders keys revoke key_0aB3dE6gH --with-created',
  )
    .argument('<id>', 'the key id shown by "keys list"')
    .option(
      '--with-created',
      'also revoke the keys that it has created, or whose secrets it has made, and so on',
    )
    .action(revokeKey);
  const rotate = databaseCommand(
    'rotate',
    'give an API key another secret, printed on stdout; the one before is valid a while longer',
    `npx store-orders keys rotate key_0aB3dE6gH
npx store-orders keys rotate key_0aB3dE6gH --overlap 0
npx store-orders keys rotate key_0aB3dE6gH --end-overlap`,
  )
    .argument('<id>', 'the key id shown by "keys list"')
    .option(
      '--overlap <time>',
      `how long the secret before stays valid: 0, or ${DURATION.expected}`,
      '24h',
    )
    .option('--end-overlap', 'end the secret before the present one now, which stays as it is')
    .action(rotateKey);
  return new Command('keys')
    .description('create, list, rotate and revoke API keys')
    .addCommand(createCommand())
    .addCommand(list)
    .addCommand(rotate)
    .addCommand(revoke);
}

function createCommand(): Command {
  return databaseCommand(
    'create',
    'create an API key; prints only the key on stdout',
    `npx store-orders keys create --name "web shop"
KEY=$(npx store-orders keys create --name ci --expires 2027-01-31)
npx store-orders keys create --name reports --scope orders:read --scope changes:read
npx store-orders keys create --name tests --environment staging --database sqlite:staging.db`,
  )
    .option('--name <name>', 'name of the key, such as its user or purpose (required)')
    .option(
      '--expires <date>',
      'when the key expires: 2027-01-31 (midnight UTC at its start) or 2027-01-31T12:00:00+01:00',
    )
    .addOption(
      new Option(
        '--environment <name>',
        'environment of the key (environment: ENVIRONMENT; default: that of the store)',
      ).choices(ENVIRONMENTS),
    )
    .addOption(
      new Option(
        '--scope <scope>',
        `scope of the key; repeat the option for several scopes (default: ${BY_DEFAULT})`,
      )
        .choices(SCOPES)
        .argParser(repeated(oneOf(SCOPES).parse, `--scope must be one of ${SCOPES.join(', ')}`)),
    )
    .option('--cancels-per-hour <count>', 'maximum cancels in any hour (default: no limit)')
    .option('--places-per-hour <count>', 'maximum placements in any hour (default: no limit)')
    .option('--json', 'print the key with its secret as a JSON object')
    .action(createKey);
}

interface CreateFlags extends DatabaseFlags {
  readonly name?: string;
  readonly expires?: string;
  readonly environment?: Environment;
  readonly scope?: readonly Scope[];
  readonly cancelsPerHour?: string;
  readonly placesPerHour?: string;
  readonly json?: true;
}

async function createKey(flags: CreateFlags): Promise<void> {
  const now = Date.now();
  const { name } = flags;
  const expiresAt = flags.expires === undefined ? undefined : expiryOf(flags.expires, now);
  // Checked here, since Commander checks required options before it reports unknown flags.
  if (name === undefined) throw new UsageError('--name is required');
  if (!isKeyName(name)) throw new UsageError('--name must be 1 to 100 printable characters');
  const perHour = (flag: string, text: string | undefined) =>
    text === undefined ? undefined : naturalNumber(flag, text, MAX_PER_HOUR);
  const cancelsPerHour = perHour('--cancels-per-hour', flags.cancelsPerHour);
  const placesPerHour = perHour('--places-per-hour', flags.placesPerHour);
  if (flags.scope?.includes('webhooks:manage-all') && !flags.scope.includes('webhooks:manage')) {
    writeErr('webhooks:manage-all has no effect without webhooks:manage.');
  }
  await withStore(flags, 'create', async (store, environment) => {
    const secret = newSecret(environment);
    const limits = { scopes: flags.scope, cancelsPerHour, placesPerHour };
    const key = newApiKey(secret, { name, environment, now, expiresAt, ...limits });
    const what = `${key.id} "${name}"`;
    await applyRecorded(store, 'keys create', what, { type: 'createKey', key });
    const text = flags.json ? toJson({ ...keyRecord(key), secret }, 2) : secret;
    await writeSecret(key.id, `${text}\n`, async () => {
      await applyRecorded(store, 'keys revoke', what, { type: 'revokeKey', id: key.id });
      return `${key.id} was revoked`;
    });
    writeErr(`Created ${key.id} for ${environment}. Its secret is shown only once.`);
  });
}

/** Parses --expires. @returns milliseconds since the epoch @throws UsageError */
function expiryOf(text: string, now: number): number {
  const at = argument(
    text,
    DATE.parse,
    '--expires must be a date, which begins at midnight UTC, or a time with an offset: 2027-01-31 or 2027-01-31T12:00:00+01:00',
  );
  if (at <= now) throw new UsageError(`--expires must be in the future, not "${text}"`);
  return at;
}

async function listKeys(flags: DatabaseFlags & { json?: true }): Promise<void> {
  const keys = await withStore(flags, 'read', (store) => store.keys());
  const records = keys.map(keyRecord);
  const empty = 'There are no keys yet. Create one: npx store-orders keys create --name NAME';
  await (flags.json ? writeJson(records) : printRows(records, COLUMNS, empty));
}

type KeyRecord = ReturnType<typeof keyRecord>;

const COLUMNS = {
  ID: ({ id }: KeyRecord) => id,
  NAME: ({ name }: KeyRecord) => name,
  ENVIRONMENT: ({ environment }: KeyRecord) => environment,
  STATUS: ({ status, invitedUntil }: KeyRecord) =>
    invitedUntil === undefined ? status : `${status}, invited until ${invitedUntil}`,
  CREATED: ({ createdAt }: KeyRecord) => createdAt,
  EXPIRES: ({ expiresAt }: KeyRecord) => expiresAt ?? 'never',
  'LAST USED': ({ lastUsedAt }: KeyRecord) => lastUsedAt ?? 'never',
  SCOPES: ({ scopes }: KeyRecord) => scopes?.join(' ') ?? BY_DEFAULT,
  'CANCELS/HOUR': ({ cancelsPerHour }: KeyRecord) => String(cancelsPerHour ?? 'any'),
  'PLACES/HOUR': ({ placesPerHour }: KeyRecord) => String(placesPerHour ?? 'any'),
  'CREATED BY': ({ createdBy }: KeyRecord) => createdBy ?? 'an operator',
  'FORMER SECRET': ({ formerSecretUntil }: KeyRecord) =>
    formerSecretUntil === undefined ? 'none' : `until ${formerSecretUntil}`,
};

function keyRecord(key: ApiKey) {
  const { id, name, environment, createdAt, expiresAt, revokedAt, lastUsedAt, former } = key;
  const now = Date.now();
  return {
    id,
    name,
    environment,
    status: keyStatus(key, now),
    createdAt: formatTimestamp(createdAt),
    expiresAt: timeText(expiresAt),
    revokedAt: timeText(revokedAt),
    lastUsedAt: timeText(lastUsedAt),
    scopes: key.scopes,
    cancelsPerHour: key.cancelsPerHour,
    placesPerHour: key.placesPerHour,
    createdBy: key.createdBy,
    invitedUntil: timeText(key.ticket?.until),
    formerSecretUntil: timeText(former && former.until > now ? former.until : undefined),
  };
}

/** @throws CommandFailed if there is no such key */
async function keyOf(store: Store, id: string): Promise<ApiKey> {
  const key = await store.key(id);
  if (key === undefined) throw new CommandFailed(`there is no key ${id}`);
  return key;
}

interface RotateFlags extends DatabaseFlags {
  readonly overlap: string;
  readonly endOverlap?: true;
}

async function rotateKey(id: string, flags: RotateFlags): Promise<void> {
  if (flags.endOverlap) return endOverlap(id, flags);
  const overlapMs = flags.overlap === '0' ? 0 : DURATION.parse(flags.overlap);
  // Without a unit, 24 would be seconds.
  if (overlapMs === undefined || (overlapMs > 0 && /\d$/.test(flags.overlap))) {
    throw new UsageError(`--overlap must be 0, or ${DURATION.expected}, not "${flags.overlap}"`);
  }
  await withStore(flags, 'write', async (store) => {
    const key = await keyOf(store, id);
    const now = Date.now();
    const status = keyStatus(key, now);
    if (status !== 'valid') throw new CommandFailed(`${id} is ${status}; create another key`);
    const secret = newSecret(key.environment);
    // Written before the rotation: a further one, because the secret could not be written, would end the one that the client has.
    await writeOut(`${secret}\n`);
    const formerUntil = overlapMs === 0 ? undefined : now + overlapMs;
    const end =
      formerUntil === undefined
        ? 'without an overlap'
        : `the former secret is valid until ${formatTimestamp(formerUntil)}`;
    const what = `${id} "${key.name}", ${end}`;
    const command = { type: 'rotateKey', id, digest: secretDigest(secret), formerUntil } as const;
    const [outcome] = await applyRecorded(store, 'keys rotate', what, command);
    if (outcome !== 'rotated') {
      throw new CommandFailed(`${id} was revoked meanwhile; the secret is not valid`);
    }
    const { former } = key;
    if (former !== undefined && former.until > now)
      writeErr('The secret before the last one has ended.');
    writeErr(
      formerUntil === undefined
        ? `The secret of ${id} before has ended; running servers reject it within a second.`
        : `The secret of ${id} before is valid until ${formatTimestamp(formerUntil)}.`,
    );
  });
}

async function endOverlap(id: string, flags: DatabaseFlags): Promise<void> {
  const outcome = await withStore(flags, 'write', async (store) => {
    const key = await keyOf(store, id);
    const what = `${id} "${key.name}", end of the former secret`;
    return (await applyRecorded(store, 'keys rotate', what, { type: 'endOverlap', id }))[0];
  });
  writeErr(
    outcome === 'ended'
      ? `The former secret of ${id} has ended; running servers reject it within a second.`
      : `${id} has no former secret.`,
  );
}

async function revokeKey(
  id: string,
  flags: DatabaseFlags & { readonly withCreated?: true },
): Promise<void> {
  await withStore(flags, 'write', async (store) => {
    // A revoked key creates no further ones, so those that it has created are read after that.
    const seen = new Set<string>();
    for (let keys = [await keyOf(store, id)]; keys.length > 0; ) {
      for (const key of keys) {
        seen.add(key.id);
        const what = `${key.id} "${key.name}"`;
        const command = { type: 'revokeKey', id: key.id } as const;
        const [outcome] = await applyRecorded(store, 'keys revoke', what, command);
        writeErr(outcome === 'revoked' ? `Revoked ${key.id}.` : `${key.id} was already revoked.`);
      }
      const all = flags.withCreated ? await store.keys() : [];
      keys = all.filter(
        ({ id: each, createdBy = '', secretBy = '' }) =>
          !seen.has(each) && (seen.has(createdBy) || seen.has(secretBy)),
      );
    }
  });
}
