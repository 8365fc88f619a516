import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Position, positionText } from '../../../protocol/history.ts';
import {
  type AllowedTargets,
  parseAllowedTargets,
  urlProblem,
} from '../../feed/deliveries/addresses.ts';
import { deliveryOf, headersOf, nextPage } from '../../feed/deliveries/delivery.ts';
import { isAccepted, post } from '../../feed/deliveries/post.ts';
import { waitAfter } from '../../feed/deliveries/retries.ts';
import { KEY_BYTES } from '../../feed/deliveries/webhook-key.ts';
import { follow, PositionLost } from '../../feed/follow.ts';
import type { ChangePage } from '../../store/feed.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { followed } from '../orders/changes.ts';
import { CommandFailed, counted, UsageError, writeErr } from '../terminal/terminal.ts';
import { positionAt } from './create.ts';

/** Longest wait for a repetition: programs under development are restarted often. */
const LONGEST_WAIT_MS = 1_000;
/** The machine of the developer. */
const HERE = parseAllowedTargets('127.0.0.0/8,::1,http') as AllowedTargets;

/** A webhook without a filter, and without a delivery in flight. */
const ALL_CHANGES = {
  ...{ examined: undefined, sendingTo: undefined },
  ...{ types: undefined, petIds: undefined },
};

interface ListenFlags extends DatabaseFlags {
  readonly forwardTo: string;
  readonly after: string;
  readonly secret?: string;
}

export function listenCommand(): Command {
  return databaseCommand(
    'listen',
    'forward changes to a program on this machine as signed webhooks, until interrupted; for development',
    `npx store-orders webhooks listen --forward-to http://127.0.0.1:3000/hook
npx store-orders webhooks listen --forward-to http://localhost:3000/ --after start`,
  )
    .requiredOption('--forward-to <url>', 'URL of the program; it must be on this machine')
    .option('--after <cursor>', 'a cursor of changes, "start", or "now"', 'now')
    .option('--secret <secret>', 'the secret that signs deliveries, whsec_…; a new one by default')
    .action(listen);
}

async function listen({ forwardTo, after, secret, ...flags }: ListenFlags): Promise<void> {
  const problem = urlProblem(forwardTo, HERE);
  if (problem !== undefined) throw new UsageError(`--forward-to ${problem}`);
  const used = secret ?? `whsec_${randomBytes(KEY_BYTES).toString('base64')}`;
  if (!/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(used)) {
    throw new UsageError('--secret must be whsec_ and at least 24 bytes in Base64');
  }
  await withStore(flags, 'read', async (store) => {
    let position = await positionAt(store, '--after', after);
    writeErr(`Secret: ${used}`);
    writeErr(`Forwarding the changes after ${positionText(position)} to ${forwardTo}`);
    const { read, changed } = followed(store);
    // The same pages that a webhook gets.
    const readPage = () => nextPage(read, { ...ALL_CHANGES, position });
    const never = new AbortController().signal;
    for await (const page of follow({ read: readPage, changed }, position, never)) {
      if (page.changes.length > 0) await deliver(new URL(forwardTo), used, { position, page });
      position = page.position;
    }
  }).catch((error) => {
    throw error instanceof PositionLost ? new CommandFailed(error.message) : error;
  });
}

/** Sends a page until it is accepted. */
async function deliver(
  url: URL,
  secret: string,
  { position, page }: { readonly position: Position; readonly page: ChangePage },
): Promise<void> {
  const delivery = await deliveryOf('listen', position, page);
  const what = `${counted(page.changes.length, 'change')} up to revision ${page.position.revision}`;
  for (let failures = 1; ; failures += 1) {
    const headers = headersOf(delivery, [secret]);
    const answer = await post({ url, headers, body: delivery.body, allowed: HERE });
    writeErr(`${answer.problem ?? answer.status}: ${what} (${delivery.id})`);
    if (isAccepted(answer)) return;
    await pause(Math.min(waitAfter(failures, answer.retryAfterMs), LONGEST_WAIT_MS));
  }
}
