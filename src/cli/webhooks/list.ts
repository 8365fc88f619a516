import type { Command } from 'commander';
import { MAX_LAG } from '../../domain/webhook.ts';
import { webhookRecord } from '../../records/webhook-json.ts';
import { type LaggingWebhook, lagsOf } from '../../store/webhook-lags.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import {
  CommandFailed,
  counted,
  table,
  writeErr,
  writeJson,
  writeOut,
} from '../terminal/output.ts';

type Flags = DatabaseFlags & { readonly json?: true };

export function listCommand(): Command {
  return databaseCommand(
    'list',
    'list webhooks, their states, and what they have not delivered yet',
    'npx store-orders webhooks list\nnpx store-orders webhooks list --json',
  )
    .option('--json', 'print a JSON array')
    .action(list);
}

export function showCommand(): Command {
  return databaseCommand(
    'show',
    'show a webhook, with its last failure',
    'npx store-orders webhooks show wh_3f9c1a7be2d04586',
  )
    .argument('<id>', 'the id shown by "webhooks list"')
    .option('--json', 'print a JSON object')
    .action(show);
}

async function list(flags: Flags): Promise<void> {
  const found = await withStore(flags, 'read', lagsOf);
  const records = found.map((each) => webhookRecord(each, true));
  if (flags.json) await writeJson(records);
  else if (records.length === 0) {
    writeErr('There are no webhooks yet. Create one: npx store-orders webhooks create URL');
  } else {
    const rows = found.map((each, index) => {
      const { id, url, state, lastSuccessAt = 'never' } = records[index]!;
      return [id, state, lagText(each), lastSuccessAt, url];
    });
    await writeOut(`${table([['ID', 'STATE', 'LAG', 'LAST SUCCESS', 'URL'], ...rows])}\n`);
  }
}

function lagText({ lag: { changes } }: LaggingWebhook): string {
  return changes === MAX_LAG ? `${counted(changes, 'change')} or more` : counted(changes, 'change');
}

async function show(id: string, flags: Flags): Promise<void> {
  const found = (await withStore(flags, 'read', lagsOf)).find(({ webhook }) => webhook.id === id);
  if (found === undefined) throw new CommandFailed(`there is no webhook ${id}`);
  const record = webhookRecord(found, true);
  if (flags.json) {
    await writeJson(record);
    return;
  }
  const { lag, lastFailure, events, petIds, ...rest } = record;
  const fields = {
    ...rest,
    events: events?.join(', ') ?? 'all',
    petIds: petIds?.join(', ') ?? 'all',
    lag: `${lagText(found)}${lag.since === undefined ? '' : `, since ${lag.since}`}`,
    lastFailure:
      lastFailure &&
      [lastFailure.at, lastFailure.status, lastFailure.problem].filter(Boolean).join(' '),
  };
  const rows = Object.entries(fields).filter(([, value]) => value !== undefined);
  await writeOut(`${table(rows.map(([name, value]) => [name, String(value)]))}\n`);
}
