import { parsePosition } from '../../../protocol/history.ts';
import type { ChangeStreams } from '../../feed/streams/change-streams.ts';
import { headerCount } from '../../http/connection/well-formed.ts';
import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { sendError, sendProblems } from '../../http/request/responses.ts';
import { parseFeedStart } from '../../store/feed.ts';
import { type FilterParameters, feedFilterOf } from './list-changes.ts';

/**
 * GET /store/changes/stream: the changes after a cursor, as they happen. Last-Event-ID, which a client sends when it
 * resumes, replaces `after`.
 */
export function streamChanges(contract: Contract, streams: ChangeStreams): RouteHandler {
  return contract.validated<FilterParameters & { readonly after?: string }>(
    'streamChanges',
    async (exchange, { parameters }) => {
      const { request } = exchange;
      if (headerCount(request, 'last-event-id') > 1) {
        const detail = 'must be sent once';
        sendProblems(exchange, 'parameter_invalid', [{ parameter: 'Last-Event-ID', detail }]);
        return;
      }
      const start = parseFeedStart(parameters.after ?? 'start');
      const lastEventId = request.headers['last-event-id'];
      const after =
        lastEventId === undefined || lastEventId === ''
          ? start
          : parsePosition(String(lastEventId));
      if (start === undefined || after === undefined) sendError(exchange, 'cursor_invalid');
      else await streams.open(exchange, after, feedFilterOf(parameters));
    },
  );
}
