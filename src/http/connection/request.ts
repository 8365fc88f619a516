import { IncomingMessage } from 'node:http';

/**
 * A request for which Node never hands its connection over. It would for CONNECT, in the middle of the answers
 * to the requests before it, and with its own listeners for errors, time-outs and writing removed. So CONNECT is
 * a request like any other, which is refused in its turn.
 */
export class Request extends IncomingMessage {
  get upgrade(): boolean {
    return false;
  }

  set upgrade(_isUpgrade: boolean) {}
}
