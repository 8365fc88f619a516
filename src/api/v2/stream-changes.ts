import type { Operations } from '../../../protocol/generated/operations.ts';
import { parsePosition } from '../../../protocol/history.ts';
import { headerCount } from '../../http/connection/well-formed.ts';
import { invalid, Refused, refuse } from '../../http/request/reply.ts';
import { parseFeedStart } from '../../store/feed.ts';
import type { Operation } from '../operation.ts';
import { feedFilterOf } from './list-changes.ts';

type Parameters = Operations['streamChanges']['parameters'];

/**
 * GET /store/changes/stream: the changes after a cursor, as they happen. Last-Event-ID, which a client sends when it resumes, replaces `after`.
 * It returns no reply: the stream lasts until the client or the service ends it.
 */
export const streamChanges: Operation = {
  id: 'streamChanges',
  route: (contract, { streams }) =>
    contract.validated<Parameters>('streamChanges', async (exchange, { parameters }) => {
      const { request } = exchange;
      if (headerCount(request, 'last-event-id') > 1) {
        const problem = { parameter: 'Last-Event-ID', detail: 'must be sent once' };
        throw new Refused(invalid('parameter_invalid', [problem]));
      }
      const start = parseFeedStart(parameters.after ?? 'start');
      const lastEventId = request.headers['last-event-id'];
      const after =
        lastEventId === undefined || lastEventId === ''
          ? start
          : parsePosition(String(lastEventId));
      if (start === undefined || after === undefined) throw new Refused(refuse('cursor_invalid'));
      await streams.open(exchange, after, feedFilterOf(parameters));
    }),
};
