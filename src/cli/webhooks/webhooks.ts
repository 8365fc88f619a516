import { Command } from 'commander';
import { MAX_LAG } from '../../domain/webhook.ts';
import { webhookRecord } from '../../records/webhook-json.ts';
import { type LaggingWebhook, lagsOf } from '../../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import {
  CommandFailed,
  counted,
  fieldsText,
  printRows,
  writeJson,
  writeOut,
} from '../terminal/terminal.ts';
import { createCommand } from './create.ts';
import { listenCommand } from './listen.ts';
import { manageCommands } from './manage.ts';

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
  const showCommand = databaseCommand(
    'show',
    'show a webhook, with its last failure',
    'npx store-orders webhooks show wh_3f9c1a7be2d04586',
  )
    .argument('<id>', 'the id shown by "webhooks list"')
    .option('--json', 'print a JSON object')
    .action(show);
  const commands = [createCommand(), listCommand, showCommand, ...manageCommands()];
  for (const command of [...commands, listenCommand()]) webhooks.addCommand(command);
  return webhooks;
}

type Flags = DatabaseFlags & { readonly json?: true };

async function list(flags: Flags): Promise<void> {
  const found = await readWebhooks(flags);
  const empty = 'There are no webhooks yet. Create one: npx store-orders webhooks create URL';
  await (flags.json ? writeJson(found.map(recordOf)) : printRows(found, COLUMNS, empty));
}

/** Reads all webhooks with their lags. */
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
