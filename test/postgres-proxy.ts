import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** Types of messages, https://www.postgresql.org/docs/current/protocol-message-formats.html */
const [PARSE, BIND, QUERY, SYNC, KEY, READY, TERMINATE] = [...'PBQSKZX'].map((each) =>
  each.charCodeAt(0),
);
const IDLE = 'I'.charCodeAt(0);

/** Splits what a peer sends into messages; the first one of a client has no type. */
function onMessages(socket: Socket, hasStartup: boolean, onMessage: (message: Buffer) => void) {
  let rest: Buffer = Buffer.alloc(0);
  let isStartup = hasStartup;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const head = isStartup ? 0 : 1;
      if (rest.length < head + 4) return;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      isStartup = false;
      onMessage(message);
    }
  });
}

/** A connection to a server, which executes one group of messages after another. */
class Backend {
  readonly socket: Socket;
  isIdle = true;
  /** Called with each message of the server. */
  onMessage = (_: Buffer) => {};

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    onMessages(this.socket, false, (message) => this.onMessage(message));
  }

  /** Sends messages; resolves when the server is ready for the next. */
  execute(messages: readonly Buffer[], relay: (message: Buffer) => void): Promise<void> {
    return new Promise((resolve) => {
      this.onMessage = (message) => {
        relay(message);
        if (message[0] !== READY) return;
        this.isIdle = message[5] === IDLE;
        resolve();
      };
      this.socket.write(Buffer.concat(messages));
    });
  }
}

/** Decides which connection executes a group of messages with this SQL, or with that of its statement. */
type Choose = (sql: string) => Promise<Backend> | Backend;

/** How a proxy handles the connection of one client. */
interface Rules {
  /** Ports of servers; the first answers the start of a connection. */
  readonly ports: readonly number[];
  /** Called once for each client with its connections. */
  readonly chooser: (own: readonly Backend[]) => { choose: Choose; after: (used: Backend) => void };
  /** Whether the client is told the process of the server, or another one. */
  readonly passesKey: boolean;
}

/** Starts a proxy; returns the URL of a database by way of it. */
async function startProxy(t: TestContext, url: string, rules: Rules): Promise<string> {
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const own = rules.ports.map((port) => new Backend(port));
    sockets.push(client, ...own.map(({ socket }) => socket));
    const { choose, after } = rules.chooser(own);
    const statements = new Map<string, string>();
    let work = Promise.resolve();
    let group: Buffer[] = [];
    let sql = '';
    const relay = (message: Buffer) => {
      if (message[0] === KEY && !rules.passesKey) message.writeInt32BE(4_711, 5);
      client.write(message);
    };
    let isStarted = false;
    onMessages(client, true, (message) => {
      if (!isStarted) {
        isStarted = true;
        work = Promise.all(
          own.map((each, index) => each.execute([message], index === 0 ? relay : () => {})),
        ).then(() => after(own[0]!));
        return;
      }
      const [type] = message;
      if (type === TERMINATE) return;
      group.push(message);
      const texts = message.subarray(5).toString().split('\0');
      if (type === QUERY) sql = texts[0]!;
      if (type === PARSE) statements.set(texts[0]!, texts[1]!);
      if (type === PARSE || type === BIND) sql = statements.get(texts[type === PARSE ? 0 : 1]!)!;
      if (type !== QUERY && type !== SYNC) return;
      const [messages, text] = [group, sql];
      group = [];
      work = work.then(async () => {
        const used = await choose(text);
        await used.execute(messages, relay);
        after(used);
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const proxied = new URL(url);
  proxied.port = String((server.address() as AddressInfo).port);
  return proxied.href;
}

/**
 * A pooler that gives the connection of a client to others between transactions, the latest one first, as PgBouncer does.
 * @param passesKey whether clients are told the process of the server
 */
export function startPooler(t: TestContext, url: string, passesKey: boolean): Promise<string> {
  const idle: Backend[] = [];
  return startProxy(t, url, {
    ports: [Number(new URL(url).port)],
    passesKey,
    chooser: () => {
      let held: Backend | undefined;
      return {
        choose: () => held ?? idle.pop()!,
        after: (used) => {
          held = used.isIdle ? undefined : used;
          if (used.isIdle) idle.push(used);
        },
      };
    },
  });
}

/**
 * A proxy that sends statements that only read, outside of transactions, to a standby: those without functions that are volatile.
 * @param isSplitting whether it does so at the moment
 */
export function startReadSplitter(
  t: TestContext,
  url: string,
  { standby, isSplitting }: { readonly standby: number; readonly isSplitting: () => boolean },
): Promise<string> {
  return startProxy(t, url, {
    ports: [Number(new URL(url).port), standby],
    passesKey: true,
    chooser: ([primary, reader]) => {
      return {
        choose: (sql) =>
          isSplitting() &&
          primary!.isIdle &&
          /^\s*(?:SELECT|WITH)/.test(sql) &&
          !/set_config|pg_is_in_recovery|pg_backend_pid|lock|UPDATE|INSERT/.test(sql)
            ? reader!
            : primary!,
        after: () => {},
      };
    },
  });
}
