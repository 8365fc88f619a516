import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Network {
  /** Whether what a server has just sent is lost, with its connection, although the request has arrived. */
  readonly loses: () => boolean;
  /** Time that what a server sends is on its way, in milliseconds. */
  readonly delayMs?: number;
  /** Time for which connections are refused after something was lost, in milliseconds; by default none. */
  readonly refusesMs?: () => number;
}

const LISTENS_AGAIN_MS = 20;

/** A network between clients on this machine and servers, which relays each connection to `to()`. @returns its port */
export async function relay(
  to: () => Address,
  { loses, delayMs = 0, refusesMs = () => 0 }: Network,
): Promise<number> {
  let refuse = (_: number) => {};
  const relaying = createServer((client) => {
    const { host, port } = to();
    const server = connect(port, host);
    endTogether(client, server);
    client.pipe(server);
    server.on('data', (bytes) => {
      if (loses()) {
        client.resetAndDestroy();
        refuse(refusesMs());
      } else if (delayMs === 0) client.write(bytes);
      else setTimeout(() => client.write(bytes), delayMs);
    });
  });
  relaying.listen(0, '127.0.0.1');
  await once(relaying, 'listening');
  relaying.unref();
  const { port } = relaying.address() as AddressInfo;
  const listenAfter = (ms: number) =>
    setTimeout(() => relaying.listen(port, '127.0.0.1'), ms).unref();
  // Another connection may have got the port meanwhile.
  relaying.on('error', () => listenAfter(LISTENS_AGAIN_MS));
  refuse = (ms) => {
    if (ms === 0 || !relaying.listening) return;
    relaying.close();
    listenAfter(ms);
  };
  return port;
}

function endTogether(client: Socket, server: Socket): void {
  for (const [socket, peer] of [
    [client, server],
    [server, client],
  ] as const) {
    socket.on('error', () => {});
    socket.on('close', () => peer.destroy());
  }
}
