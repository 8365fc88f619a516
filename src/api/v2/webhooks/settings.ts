import type { Position } from '../../../../protocol/history.ts';
import type { OrderEventType } from '../../../domain/lifecycle.ts';
import { type AllowedTargets, urlProblem } from '../../../feed/deliveries/addresses.ts';
import type { RequestProblem } from '../../../http/errors.ts';
import { inTime } from '../../../http/request/deadline.ts';
import type { Exchange } from '../../../http/request/exchange.ts';
import { sendError, sendProblems } from '../../../http/request/responses.ts';
import { parseFeedStart, startPosition } from '../../../store/feed.ts';
import type { Store } from '../../../store/store.ts';

/** What createWebhook and updateWebhook can set. */
export interface WebhookSettings {
  readonly url?: string;
  readonly description?: string;
  readonly events?: readonly OrderEventType[];
  readonly petIds?: readonly bigint[];
  /** A cursor, start or now. */
  readonly after?: string;
}

/** The settings as they are stored; absent ones are not set. */
interface CheckedSettings {
  /** As the URL parser writes it. */
  readonly url?: string | undefined;
  readonly position?: Position | undefined;
  readonly events?: readonly OrderEventType[] | undefined;
  readonly petIds?: readonly bigint[] | undefined;
}

/** Checks what the contract does not; sends an error and returns undefined if something is not valid. */
export async function checkedSettings(
  exchange: Exchange,
  { store, allowed }: { readonly store: Store; readonly allowed: AllowedTargets },
  { url, after, events, petIds }: WebhookSettings,
): Promise<CheckedSettings | undefined> {
  const problems: RequestProblem[] = [];
  const wrong = url === undefined ? undefined : urlProblem(url, allowed);
  if (wrong !== undefined) problems.push({ pointer: '/url', detail: wrong });
  const start = after === undefined ? undefined : parseFeedStart(after);
  if (after !== undefined && start === undefined) {
    problems.push({ pointer: '/after', detail: 'must be a cursor, start or now' });
  }
  if (problems.length > 0) {
    sendProblems(exchange, 'body_invalid', problems);
    return undefined;
  }
  const page = start && (await inTime(exchange, () => store.feed(start, 1)));
  if (start !== undefined && page === undefined) {
    sendError(exchange, 'changes_gone');
    return undefined;
  }
  return {
    url: url === undefined ? undefined : new URL(url).href,
    position: start && startPosition(start, page!.now),
    events: events && [...new Set(events)],
    petIds: petIds && [...new Set(petIds)],
  };
}
