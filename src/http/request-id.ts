import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { withoutSecrets } from '../keys/api-key.ts';

/** A client's own X-Request-Id, if it is one that can stand in a log; otherwise a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isSane =
    typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && withoutSecrets(given) === given;
  return isSane ? given : randomUUID();
}
