import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { withoutSecrets } from '../../domain/api-key.ts';

/** Random per-process prefix (96 bits); a counter completes the id. */
const PROCESS = randomBytes(12).toString('hex');
let made = 0;

/** Returns the X-Request-Id of the request if it is safe to log; otherwise a new id. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isSane =
    typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && withoutSecrets(given) === given;
  return isSane ? given : newRequestId();
}

/** Returns a new id; used directly when no request could be parsed. */
export function newRequestId(): string {
  made += 1;
  return `${PROCESS}-${made.toString(36)}`;
}
