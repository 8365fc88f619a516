import { Command } from 'commander';
import { positionText } from '../../../protocol/history.ts';
import {
  MAX_LAG,
  rotatedWebhook,
  type Webhook,
  type WebhookChanges,
  webhookState,
} from '../../domain/webhook.ts';
import { sendTest } from '../../feed/deliveries/test-delivery.ts';
import { keyOf, ROTATION_MS, readWebhookKey, secretOf } from '../../feed/deliveries/webhook-key.ts';
import { webhookRecord } from '../../records/webhook-json.ts';
import { type LaggingWebhook, lagsOf, type Store } from '../../store/store.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
  withStore,
} from '../command-database.ts';
import {
  CommandFailed,
  counted,
  fieldsText,
  printRows,
  writeErr,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';
import { createCommand, positionAt } from './create.ts';
import { listenCommand } from './listen.ts';

const ID = 'wh_3f9c1a7be2d04586';
const ROTATION_HOURS = ROTATION_MS / 3_600_000;

export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'manage the webhooks to which the service sends changes, and try them',
  );
  const listCommand = databaseCommand(
    'list',
    'list webhooks, their states, and what they have not delivered yet',
    'npx store-orders webhooks list\nnpx store-orders webhooks list --json',
  )
    .option('--json', 'print a JSON array')
    .action(list);
  const showCommand = commandFor('show', 'show a webhook, with its last failure')
    .option('--json', 'print a JSON object')
    .action(show);
  const commands = [
    createCommand(),
    listCommand,
    showCommand,
    ...manageCommands(),
    listenCommand(),
  ];
  for (const command of commands) webhooks.addCommand(command);
  return webhooks;
}

type Flags = DatabaseFlags & { readonly json?: true };

async function list(flags: Flags): Promise<void> {
  const found = await readWebhooks(flags);
  const empty = 'There are no webhooks yet. Create one: npx store-orders webhooks create URL';
  await (flags.json ? writeJson(found.map(recordOf)) : printRows(found, COLUMNS, empty));
}

function readWebhooks(flags: Flags): Promise<LaggingWebhook[]> {
  return withStore(flags, 'read', async (store) => lagsOf(store, await store.webhooks()));
}

/** Operators also get the answers of endpoints. */
const recordOf = (each: LaggingWebhook) => webhookRecord(each, 'all');

const COLUMNS = {
  ID: ({ webhook }: LaggingWebhook) => webhook.id,
  STATE: (each: LaggingWebhook) => recordOf(each).state,
  LAG: lagText,
  'LAST SUCCESS': (each: LaggingWebhook) => recordOf(each).lastSuccessAt ?? 'never',
  URL: ({ webhook }: LaggingWebhook) => webhook.url,
};

function lagText({ lag: { count } }: LaggingWebhook): string {
  return count === MAX_LAG ? `${counted(count, 'change')} or more` : counted(count, 'change');
}

async function show(id: string, flags: Flags): Promise<void> {
  const found = (await readWebhooks(flags)).find(({ webhook }) => webhook.id === id);
  if (found === undefined) throw new CommandFailed(`there is no webhook ${id}`);
  const record = recordOf(found);
  if (flags.json) {
    await writeJson(record);
    return;
  }
  const { lag, lastFailure, types, petIds, ...rest } = record;
  const fields = {
    ...rest,
    types: types?.join(', ') ?? 'all',
    petIds: petIds?.join(', ') ?? 'all',
    lag: `${lagText(found)}${lag?.since === undefined ? '' : `, since ${lag.since}`}`,
    lastFailure:
      lastFailure &&
      [lastFailure.at, lastFailure.status, lastFailure.problem].filter(Boolean).join(' '),
  };
  await writeOut(fieldsText(fields));
}

/** The commands that change a webhook, or try it. */
const manageCommands = () => [
  commandFor('pause', 'end the deliveries of a webhook; it keeps its position').action(
    async (id: string, flags: DatabaseFlags) => {
      await withStore(flags, 'write', (store) => change(store, 'pause', id, { isPaused: true }));
      writeErr(`Paused ${id}.`);
    },
  ),
  commandFor('resume', 'continue a paused webhook where it stopped, or try it at once').action(
    async (id: string, flags: DatabaseFlags) => {
      await withStore(flags, 'write', async (store) => {
        // A failing webhook is not paused, so resuming it would change nothing.
        const isFailing = webhookState(await webhookOf(store, id)) === 'failing';
        const steps = isFailing ? [{ isPaused: true }, { isPaused: false }] : [{ isPaused: false }];
        await change(store, 'resume', id, ...steps);
      });
      writeErr(`Resumed ${id}.`);
    },
  ),
  commandFor(
    'rewind',
    'set the position of a webhook in the feed, backward or forward',
    `rewind ${ID} --to start`,
  )
    .requiredOption('--to <cursor>', 'a cursor of changes, "start", or "now"')
    .action(async (id: string, { to, ...flags }: DatabaseFlags & { readonly to: string }) => {
      const { position } = await withStore(flags, 'write', async (store) =>
        change(store, 'rewind', id, { position: await positionAt(store, '--to', to) }),
      );
      writeErr(`${id} continues after ${positionText(position)}.`);
    }),
  commandFor(
    'rotate',
    'give a webhook a new secret, printed on stdout; the one before signs for 24 hours more',
  ).action(rotate),
  commandFor(
    'test',
    'send a signed delivery without changes to the endpoint of a webhook; nothing about it is recorded',
  ).action(test),
  commandFor('delete', 'delete a webhook').action(async (id: string, flags: DatabaseFlags) => {
    await withStore(flags, 'write', async (store) => {
      await webhookOf(store, id);
      const command = { type: 'deleteWebhook', id } as const;
      const [outcome] = await applyRecorded(store, 'webhooks delete', id, command);
      if (outcome !== 'deleted') throw new CommandFailed(`there is no webhook ${id}`);
    });
    writeErr(`Deleted ${id}.`);
  }),
];

function commandFor(name: string, description: string, example = `${name} ${ID}`): Command {
  return databaseCommand(name, description, `npx store-orders webhooks ${example}`).argument(
    '<id>',
    'the id shown by "webhooks list"',
  );
}

async function change(
  store: Store,
  command: string,
  id: string,
  ...steps: readonly WebhookChanges[]
): Promise<Webhook> {
  await webhookOf(store, id);
  const commands = steps.map((changes) => ({ type: 'changeWebhook', id, changes }) as const);
  const outcome = (await applyRecorded(store, `webhooks ${command}`, id, ...commands)).at(-1);
  if (typeof outcome === 'object') return outcome;
  throw new CommandFailed(`there is no webhook ${id}`);
}

async function rotate(id: string, flags: DatabaseFlags): Promise<void> {
  const { keyFile } = databaseConfig(flags).webhooks;
  await withStore(flags, 'write', async (store) => {
    const before = await webhookOf(store, id);
    const key = keyFile && readWebhookKey(keyFile);
    if (key === undefined) throw new CommandFailed('the webhook key is missing (WEBHOOK_KEY_FILE)');
    const at = Date.now();
    const after = rotatedWebhook(before, key.name, at);
    // Written before the rotation. If it could not be written after it, a further rotation would be needed, and that would end the secret that
    // the endpoint knows.
    await writeOut(`${secretOf(key.bytes, after)}\n`);
    const command = { type: 'rotateWebhook', id, keyName: key.name, at } as const;
    const [outcome] = await applyRecorded(store, 'webhooks rotate', id, command);
    if (typeof outcome !== 'object') {
      throw new CommandFailed(`there is no webhook ${id} any more; the secret is not valid`);
    }
    if (outcome.webhook.generation !== after.generation) {
      throw new CommandFailed(
        `the secret of ${id} was rotated at the same time: the one that was written is valid for ` +
          `${ROTATION_HOURS} hours only; rotate it again`,
      );
    }
    writeErr(
      before.keyName === key.name
        ? `The secret of ${id} before is valid for ${ROTATION_HOURS} hours more.`
        : `The secret of ${id} before was derived from another webhook key, and is no longer valid.`,
    );
  });
}

async function test(id: string, flags: DatabaseFlags): Promise<void> {
  const { keyFile, allowed } = databaseConfig(flags).webhooks;
  const { accepted, status, problem, ms } = await withStore(flags, 'read', async (store) => {
    const webhook = await webhookOf(store, id);
    const key = keyOf(keyFile, webhook);
    if (key === undefined) {
      throw new CommandFailed('the webhook key of the service is missing, or another one');
    }
    return sendTest(store, { webhook, key, allowed });
  });
  const answer = `${problem ?? status}, after ${ms} ms`;
  if (!accepted) throw new CommandFailed(`the endpoint has not accepted the test: ${answer}`);
  writeErr(`The endpoint has accepted the test: ${answer}`);
}

async function webhookOf(store: Store, id: string): Promise<Webhook> {
  const found = (await store.webhooks()).find((each) => each.id === id);
  if (found === undefined) throw new CommandFailed(`there is no webhook ${id}`);
  return found;
}
