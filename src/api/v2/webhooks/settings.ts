import type { WebhookChanges } from '../../../../protocol/generated/records.ts';
import { urlProblem } from '../../../feed/deliveries/addresses.ts';
import type { RequestProblem } from '../../../http/error-records.ts';
import { invalid, Refused, refuse } from '../../../http/request/reply.ts';
import { parseFeedStart, startPosition } from '../../../store/feed.ts';
import type { Services } from '../../operation.ts';

/**
 * Checks the settings beyond the contract's schema. Returns them as they are stored: a URL as the URL parser writes it, no types or pets for all,
 * and undefined what is not set.
 * @throws Refused if something is not valid
 */
export async function checkedSettings(
  { store, webhooks }: Services,
  { url, after, types, petIds }: WebhookChanges,
) {
  const problems: RequestProblem[] = [];
  const wrong = url === undefined ? undefined : urlProblem(url, webhooks.allowed);
  if (wrong !== undefined) problems.push({ pointer: '/url', detail: wrong });
  const start = after === undefined ? undefined : parseFeedStart(after);
  if (after !== undefined && start === undefined) {
    problems.push({ pointer: '/after', detail: 'must be a cursor, start or now' });
  }
  if (problems.length > 0) throw new Refused(invalid('body_invalid', problems));
  const page = start && (await store.feed(start, 1));
  if (start !== undefined && page === undefined) throw new Refused(refuse('changes_gone'));
  return {
    url: url === undefined ? undefined : new URL(url).href,
    position: start && startPosition(start, page!.now),
    types: types === null ? [] : types && [...new Set(types)],
    petIds: petIds === null ? [] : petIds && [...new Set(petIds)],
  };
}
