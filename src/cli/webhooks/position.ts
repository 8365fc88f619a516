import type { Position } from '../../../protocol/history.ts';
import { parseFeedStart, startPosition } from '../../store/feed.ts';
import type { Store } from '../../store/store.ts';
import { CommandFailed, UsageError } from '../terminal/output.ts';

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
