import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { isSamePosition, type Position, positionText } from '../../../protocol/history.ts';
import { positionAfterChanges } from '../../domain/heads.ts';
import { type Followed, follow, PositionLost } from '../../feed/follow.ts';
import { changeJson } from '../../records/order-json.ts';
import {
  type ChangePage,
  type FeedStart,
  HistoryIncomplete,
  parseFeedStart,
  positionAfter,
  startPosition,
} from '../../store/feed.ts';
import { isTransient, type Store } from '../../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { argument, CommandFailed, terminal, writeErr, writeOut } from '../terminal/terminal.ts';

/** How often the store is polled for new changes with --follow. */
const POLL_MS = 250;

interface ChangesFlags extends DatabaseFlags {
  readonly after: string;
  readonly follow?: boolean;
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
        if (error instanceof PositionLost)
          throw new CommandFailed(`${error.message}; begin again at "start"`);
        throw error instanceof HistoryIncomplete ? new CommandFailed(error.message) : error;
      }),
    );
}

async function writeChanges({
  after,
  follow: isFollowing = false,
  verify,
  ...flags
}: ChangesFlags): Promise<void> {
  const begin = argument(after, parseFeedStart, '--after must be a cursor, start or now');
  await withStore(flags, 'read', async (store) => {
    const reading = new AbortController();
    terminal().stdout.once('close', () => reading.abort());
    let from: FeedStart = begin;
    for await (const page of follow(
      isFollowing ? followed(store) : { read: store.feed, changed: async () => {} },
      begin,
      reading.signal,
    )) {
      if (verify) expectProven(startPosition(from, page.now), page);
      await writeOut(linesOf(page));
      from = page.position;
      if (page.isMore || isFollowing) continue;
      if (verify) writeErr(`Verified up to ${positionText(from)}.`);
      return;
    }
  });
}

/**
 * @throws CommandFailed if the changes of a page do not lead from its first position to its last, or the last page does not end at the position
 * of the store
 */
function expectProven(from: Position, { changes, position, isMore, now }: ChangePage): void {
  const isEnd = isMore || isSamePosition(position, now);
  if (isEnd && isSamePosition(positionAfterChanges(from, changes), position)) return;
  throw new CommandFailed(
    `the changes after revision ${from.revision} up to ${position.revision} are not those that the head of revision ` +
      `${position.revision} proves: rows were altered; "store-orders check" names the revisions`,
  );
}

/** Returns the feed for commands that follow a store. It waits for a database that may become available again. */
export function followed(store: Store): Followed {
  return {
    read: async (after, limit) => {
      for (let isWaiting = false; ; isWaiting = true) {
        try {
          return await store.feed(after, limit);
        } catch (error) {
          if (!isTransient(error)) throw error;
          if (!isWaiting) writeErr(`waiting for the database: ${(error as Error).message}`);
          await pause(POLL_MS);
        }
      }
    },
    changed: () => pause(POLL_MS),
  };
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
