import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { changeJson } from '../api/v2/records.ts';
import type { ChangePage, FeedStart } from '../store/feed.ts';
import { MAX_CHANGES, positionBehind } from '../store/feed.ts';
import { feedCursor, parseFeedStart } from '../store/feed-cursor.ts';
import { mayPass, type Store } from '../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { CommandFailed, say, UsageError, writeOut } from './terminal/output.ts';
import { terminal } from './terminal/terminal.ts';

/** How often the store is asked for new changes with --follow. */
const POLL_MS = 250;

interface ChangesFlags extends DatabaseFlags {
  readonly after: string;
  readonly follow?: true;
}

export function changesCommand(): Command {
  return databaseCommand(
    'changes',
    'write all changes of orders to stdout as NDJSON, in order and without gaps',
    `npx store-orders changes > changes.ndjson
npx store-orders changes --follow --after now
npx store-orders changes --after "$CURSOR"`,
  )
    .option(
      '--after <cursor>',
      'begin behind the "cursor" of a line, at "start", or with what comes "now"',
      'start',
    )
    .option('--follow', 'go on with changes as they happen, until interrupted')
    .action(writeChanges);
}

async function writeChanges({ after, follow, ...flags }: ChangesFlags): Promise<void> {
  const begin = parseFeedStart(after);
  if (begin === undefined) {
    throw new UsageError(`--after must be a cursor, start or now, not "${after}"`);
  }
  await withStore(flags, 'read', async (store) => {
    let position: FeedStart = begin;
    const isRead = readerOf(terminal().stdout);
    while (isRead()) {
      const page: ChangePage | undefined = await nextPage(store, position, follow === true);
      if (page === undefined) {
        throw new CommandFailed('the store does not have the change that the cursor stands behind');
      }
      await writeOut(linesOf(page));
      position = page.position;
      if (page.isMore) continue;
      if (!follow) return;
      await pause(POLL_MS);
    }
  });
}

/** Reads the next page; with `follow`, waits for a database that may become available again. */
async function nextPage(store: Store, after: FeedStart, follow: boolean) {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return await store.feed(after, MAX_CHANGES);
    } catch (error) {
      if (!follow || !mayPass(error)) throw error;
      if (!isWaiting) say(`waiting for the database: ${(error as Error).message}`);
      await pause(POLL_MS);
    }
  }
}

/** Each line is a Change; the last one of a revision also has the cursor behind it. */
function linesOf({ changes, position }: ChangePage): string {
  const lines = changes.map((change, index) => {
    const { revision } = change.order;
    const isLast = changes[index + 1]?.order.revision !== revision;
    if (!isLast) return `${changeJson(change)}\n`;
    const cursor = feedCursor(positionBehind(position.storeId, change));
    return `${changeJson(change).slice(0, -1)},"cursor":"${cursor}"}\n`;
  });
  return lines.join('');
}

/** Returns a function that tells whether stdout is still read. */
function readerOf(stdout: NodeJS.WritableStream): () => boolean {
  let isRead = true;
  void once(stdout, 'close').then(() => {
    isRead = false;
  });
  return () => isRead;
}
