import { type Command, Option } from 'commander';
import type { Position } from '../../../protocol/history.ts';
import { EVENT_TYPES, type OrderEventType } from '../../domain/lifecycle.ts';
import { parseInt64 } from '../../domain/order.ts';
import { MAX_PETS, newWebhook } from '../../domain/webhook.ts';
import { urlProblem } from '../../feed/deliveries/addresses.ts';
import { keyForNew, secretOf } from '../../feed/deliveries/webhook-key.ts';
import { oneOf } from '../../service/settings/parsers.ts';
import { parseFeedStart, startPosition } from '../../store/feed.ts';
import type { Store } from '../../store/store.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  databaseConfig,
  withStore,
} from '../command-database.ts';
import {
  CommandFailed,
  repeated,
  UsageError,
  writeErr,
  writeSecret,
} from '../terminal/terminal.ts';

interface CreateFlags extends DatabaseFlags {
  readonly description?: string;
  readonly type?: readonly OrderEventType[];
  readonly pet?: readonly bigint[];
  readonly after: string;
}

export function createCommand(): Command {
  return databaseCommand(
    'create',
    'create a webhook; prints only its secret on stdout',
    `npx store-orders webhooks create https://shop.example/hooks/orders
npx store-orders webhooks create https://shop.example/hook --type cancelled --pet 412 --after start`,
  )
    .argument(
      '<url>',
      'where changes are sent; https and a public address, unless WEBHOOK_ALLOW permits others',
    )
    .option('--description <text>', 'for people')
    .addOption(
      new Option('--type <type>', 'a type of changes to send; repeat it for several (default: all)')
        .choices(EVENT_TYPES)
        .argParser(
          repeated(oneOf(EVENT_TYPES).parse, `--type must be one of ${EVENT_TYPES.join(', ')}`),
        ),
    )
    .option(
      '--pet <id>',
      'a pet whose changes to send; repeat it for several (default: all)',
      repeated(parseInt64, '--pet must be an int64'),
    )
    .option('--after <cursor>', 'a cursor of changes, "start", or "now"', 'now')
    .action(create);
}

async function create(url: string, flags: CreateFlags): Promise<void> {
  const { allowed, keyFile } = databaseConfig(flags).webhooks;
  const problem = urlProblem(url, allowed);
  if (problem !== undefined) throw new UsageError(`the URL ${problem}`);
  const { description = '' } = flags;
  if (!/^[^\p{Cc}\p{Cs}]{0,200}$/u.test(description)) {
    throw new UsageError(
      '--description must have at most 200 characters, and no control characters',
    );
  }
  if ((flags.pet?.length ?? 0) > MAX_PETS) throw new UsageError(`--pet: at most ${MAX_PETS} pets`);
  await withStore(flags, 'write', async (store) => {
    const position = await positionAt(store, '--after', flags.after);
    const key = keyForNew(keyFile, await store.webhooks());
    if (key === undefined) {
      throw new CommandFailed(
        keyFile === undefined
          ? 'set WEBHOOK_KEY_FILE to the webhook key of the service'
          : `${keyFile.path} does not have the webhook key of the other webhooks`,
      );
    }
    const webhook = newWebhook({
      ...{ url: new URL(url).href, description: description || undefined },
      ...{ types: flags.type, petIds: flags.pet, position, keyName: key.name },
      ...{ createdAt: Date.now(), createdBy: undefined },
    });
    const what = `${webhook.id} ${new URL(url).host}`;
    const command = { type: 'createWebhook', webhook } as const;
    const [outcome] = await applyRecorded(store, 'webhooks create', what, command);
    if (outcome === 'webhook_url_taken')
      throw new CommandFailed('operators have created a webhook with this URL already');
    if (outcome === 'too_many_webhooks') throw new CommandFailed('there are too many webhooks');
    await writeSecret(webhook.id, `${secretOf(key.bytes, webhook)}\n`, async () => {
      const { id } = webhook;
      await applyRecorded(store, 'webhooks delete', id, { type: 'deleteWebhook', id });
      return `${id} was deleted`;
    });
    writeErr(`Created ${webhook.id}. Its secret is shown only once.`);
  });
}

/**
 * Returns the position of a cursor, "start" or "now".
 * @throws UsageError, CommandFailed if the cursor belongs to no history of the store
 */
export async function positionAt(store: Store, flag: string, cursor: string): Promise<Position> {
  const start = parseFeedStart(cursor);
  if (start === undefined) throw new UsageError(`${flag} must be a cursor, start or now`);
  const page = await store.feed(start, 1);
  if (page !== undefined) return startPosition(start, page.now);
  throw new CommandFailed('the cursor is no longer valid: the store was restored or lost changes');
}
