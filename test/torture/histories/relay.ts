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
}

/** A network between clients on this machine and servers, which relays each connection to `to()`. @returns its port */
export async function relay(to: () => Address, { loses, delayMs = 0 }: Network): Promise<number> {
  const relaying = createServer((client) => {
    const { host, port } = to();
    const server = connect(port, host);
    endTogether(client, server);
    client.pipe(server);
    server.on('data', (bytes) => {
      if (loses()) client.resetAndDestroy();
      else if (delayMs === 0) client.write(bytes);
      else setTimeout(() => client.write(bytes), delayMs);
    });
  });
  relaying.listen(0, '127.0.0.1');
  await once(relaying, 'listening');
  relaying.unref();
  return (relaying.address() as AddressInfo).port;
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
