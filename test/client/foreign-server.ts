import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { StoreOrders, type StoreOrdersOptions } from '../../client/src/client.ts';

/** A server that is not the service. @returns makes a client of it */
export async function serverWith(t: TestContext, handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (options: Partial<StoreOrdersOptions> = {}) =>
    new StoreOrders({ baseUrl, apiKey: 'so_live_x', ...options });
}
