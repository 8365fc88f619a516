import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { withoutSecrets } from '../keys/api-key.ts';

/** This process among all there have been: 96 random bits. A request's own number makes it an id. */
const PROCESS = randomBytes(12).toString('hex');
let made = 0;

/** A client's own X-Request-Id, if it is one that can stand in a log; otherwise a new one. */
export function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isSane =
    typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && withoutSecrets(given) === given;
  return isSane ? given : newRequestId();
}

/** For what cannot even be asked for its own. */
export function newRequestId(): string {
  made += 1;
  return `${PROCESS}-${made.toString(36)}`;
}
