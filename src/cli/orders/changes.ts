import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { isSamePosition, type Position, positionText } from '../../../protocol/history.ts';
import { positionAfterChanges } from '../../domain/heads.ts';
import { changeJson } from '../../records/order-json.ts';
import {
  type ChangePage,
  type FeedStart,
  HistoryIncomplete,
  MAX_CHANGES,
  parseFeedStart,
  positionAfter,
  startPosition,
} from '../../store/feed.ts';
import { isTransient, type Store } from '../../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { CommandFailed, UsageError, writeErr, writeOut } from '../terminal/output.ts';
import { terminal } from '../terminal/terminal.ts';

/** How often the store is polled for new changes with --follow. */
const POLL_MS = 250;

interface ChangesFlags extends DatabaseFlags {
  readonly after: string;
  readonly follow?: true;
  readonly verify?: true;
}

export function changesCommand(): Command {
  return databaseCommand(
    'changes',
    'write all changes of orders to stdout as NDJSON, in order and without gaps',
    `npx store-orders changes > changes.ndjson
npx store-orders changes --follow --after now
npx store-orders changes --after "$CURSOR" --verify`,
  )
    .option(
      '--after <cursor>',
      'the position to begin at: a "cursor" from an earlier line, "start", or "now"',
      'start',
    )
    .option(
      '--verify',
      'compute the head of each page of changes, and end with 1 if it is not the one that the store has',
    )
    .option('--follow', 'continue with new changes as they happen, until interrupted')
    .action((flags: ChangesFlags) =>
      writeChanges(flags).catch((error) => {
        throw error instanceof HistoryIncomplete ? new CommandFailed(error.message) : error;
      }),
    );
}

async function writeChanges({ after, follow, verify, ...flags }: ChangesFlags): Promise<void> {
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
        throw new CommandFailed(
          'the cursor is no longer valid: the store was restored or lost changes; begin again at "start"',
        );
      }
      if (verify) expectProven(startPosition(position, page.now), page);
      await writeOut(linesOf(page));
      position = page.position;
      if (page.isMore) continue;
      if (!follow) {
        if (verify) writeErr(`Verified up to ${positionText(position)}.`);
        return;
      }
      await pause(POLL_MS);
    }
  });
}

/** @throws CommandFailed if a page of changes does not lead from one position to the next, or the last one to that of the store */
function expectProven(from: Position, { changes, position, isMore, now }: ChangePage): void {
  const isEnd = isMore || isSamePosition(position, now);
  if (isEnd && isSamePosition(positionAfterChanges(from, changes), position)) return;
  throw new CommandFailed(
    `the changes after revision ${from.revision} up to ${position.revision} are not those that the head of revision ` +
      `${position.revision} proves: rows were altered; "store-orders check" names the revisions`,
  );
}

/** Reads the next page; with `follow`, waits for a database that may become available again. */
async function nextPage(store: Store, after: FeedStart, follow: boolean) {
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return await store.feed(after, MAX_CHANGES);
    } catch (error) {
      if (!follow || !isTransient(error)) throw error;
      if (!isWaiting) writeErr(`waiting for the database: ${(error as Error).message}`);
      await pause(POLL_MS);
    }
  }
}

/** Each line is a Change; the last one of a revision also has the cursor of the position after it. */
function linesOf({ changes }: ChangePage): string {
  const lines = changes.map((change, index) => {
    const { revision } = change.order;
    const isLast = changes[index + 1]?.order.revision !== revision;
    if (!isLast) return `${changeJson(change)}\n`;
    const cursor = positionText(positionAfter(change));
    return `${changeJson(change).slice(0, -1)},"cursor":"${cursor}"}\n`;
  });
  return lines.join('');
}

/** Returns a function that returns whether stdout is still being read. */
function readerOf(stdout: NodeJS.WritableStream): () => boolean {
  let isRead = true;
  stdout.once('close', () => {
    isRead = false;
  });
  return () => isRead;
}
