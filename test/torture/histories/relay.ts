import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Network {
  /** Whether what a server has just sent is lost, with its connection, although the request has arrived. */
  readonly loses: () => boolean;
  /**
   * Time that what PostgreSQL sends is on its way, in milliseconds, and between the arrivals of statements that are sent together, so that
   * others come between them.
   */
  readonly delayMs?: number;
  /** Time for which connections are refused after something was lost, in milliseconds; by default none. */
  readonly refusesMs?: () => number;
}

const LISTENS_AGAIN_MS = 20;
/** The message that ends a statement in the protocol of PostgreSQL. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

/** A network between clients on this machine and servers, which relays each connection to `to()`. @returns its port */
export async function relay(
  to: () => Address,
  { loses, delayMs = 0, refusesMs = () => 0 }: Network,
): Promise<number> {
  /** Of the relay; at first, any free one. */
  let ownPort = 0;
  const listen = () => relaying.listen(ownPort, '127.0.0.1');
  const refuse = (ms: number) => {
    if (ms === 0 || !relaying.listening) return;
    relaying.close();
    setTimeout(listen, ms).unref();
  };
  const relaying = createServer((client) => {
    const { host, port } = to();
    const server = connect(port, host);
    endTogether(client, server);
    const sent = delayMs === 0 ? client : client.pipe(oneByOne(delayMs));
    sent.pipe(server);
    server.on('data', (bytes) => {
      if (loses()) {
        client.resetAndDestroy();
        refuse(refusesMs());
      } else if (delayMs === 0) client.write(bytes);
      else setTimeout(() => client.write(bytes), delayMs);
    });
  });
  listen();
  await once(relaying, 'listening');
  relaying.unref();
  ownPort = (relaying.address() as AddressInfo).port;
  // Another connection may have got the port meanwhile.
  relaying.on('error', () => setTimeout(listen, LISTENS_AGAIN_MS).unref());
  return ownPort;
}

/** Passes on one statement of PostgreSQL in `delayMs`. */
function oneByOne(delayMs: number): Transform {
  return new Transform({
    async transform(bytes: Buffer, _encoding, done) {
      for (let from = 0; from < bytes.length; ) {
        const end = bytes.indexOf(SYNC, from);
        const to = end === -1 ? bytes.length : end + SYNC.length;
        this.push(bytes.subarray(from, to));
        await pause(delayMs);
        from = to;
      }
      done();
    },
  });
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
