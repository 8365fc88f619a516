import { IncomingMessage } from 'node:http';

/**
 * A request that never takes over its connection. For CONNECT, Node would detach the socket while earlier responses
 * are still pending, and remove its listeners for errors, timeouts and writing. With `upgrade` always false, CONNECT
 * is an ordinary request, which is rejected in order.
 */
export class Request extends IncomingMessage {
  get upgrade(): boolean {
    return false;
  }

  set upgrade(_isUpgrade: boolean) {}
}
