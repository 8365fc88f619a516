import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** What happens to one request; README.md explains each. */
export type Step =
  | { readonly do: 'forward' | 'reset' | 'lose' | 'stall' | 'duplicate' | 'weaken' }
  | { readonly do: 'delay'; readonly ms: number }
  | { readonly do: 'cut'; readonly bytes: number }
  | { readonly do: 'alter'; readonly from: string; readonly to: string }
  | {
      readonly do: 'answer';
      readonly status: number;
      readonly body: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly forwarded: boolean;
    }
  | { readonly do: 'endless'; readonly status: number; readonly forwarded: boolean };

/** How much of an endless body is written at a time. */
const PIECE = Buffer.alloc(64 * 1024, ' ');

/** A network between a client and the service that follows a script. */
export class Network {
  /** Of the requests that have arrived. */
  readonly requests: { readonly method: string; readonly path: string; readonly id: string }[] = [];
  /** What went wrong between the network and the service. */
  readonly problems: string[] = [];
  readonly #target: string;
  readonly #stepOf: (index: number) => Step;
  readonly #handling: Promise<void>[] = [];
  readonly #firstHandled = Promise.withResolvers<void>();
  readonly #server = createServer((incoming, outgoing) => {
    this.#handling.push(this.#handle(incoming, outgoing));
  });

  /** @param target origin of the service */
  constructor(target: string, stepOf: (index: number) => Step) {
    this.#target = target;
    this.#stepOf = stepOf;
  }

  /** @returns the origin for the client */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resolves once the first request was handled as the script has it. */
  get firstHandled(): Promise<void> {
    return this.#firstHandled.promise;
  }

  /** Closes all connections, and waits until the service has answered what was forwarded. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await Promise.all(this.#handling);
  }

  async #handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const step = this.#stepOf(this.requests.length);
    const { method, url, headers } = incoming;
    const id = String(headers['x-request-id'] ?? '');
    this.requests.push({ method: method!, path: url!.split('?', 1)[0]!, id });
    outgoing.on('error', () => {});
    try {
      const body = await buffer(incoming);
      await this.#play(step, { incoming, body }, outgoing);
    } catch (error) {
      // A client may leave at any time.
      if (!outgoing.destroyed) this.problems.push(String(error));
      outgoing.destroy();
    }
    this.#firstHandled.resolve();
  }

  async #play(
    step: Step,
    sent: { readonly incoming: IncomingMessage; readonly body: Buffer },
    outgoing: ServerResponse,
  ): Promise<void> {
    const { socket } = outgoing;
    switch (step.do) {
      case 'alter':
        // A compressed body could not be altered.
        delete sent.incoming.headers['accept-encoding'];
        break;
      case 'reset':
        socket!.resetAndDestroy();
        return;
      case 'lose':
        await this.#discard(sent);
        socket!.resetAndDestroy();
        return;
      case 'stall':
        await this.#discard(sent);
        return;
      case 'duplicate':
        await this.#discard(sent);
        break;
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, step.ms));
        break;
      case 'answer':
        if (step.forwarded) await this.#discard(sent);
        outgoing.writeHead(step.status, step.headers).end(step.body);
        return;
      case 'endless':
        if (step.forwarded) await this.#discard(sent);
        outgoing.writeHead(step.status, { 'content-type': 'application/json' });
        await pipeline(endless(), outgoing);
        return;
    }
    const response = await this.#send(sent, outgoing);
    const { etag } = response.headers;
    if (step.do === 'weaken' && etag !== undefined) response.headers.etag = `W/${etag}`;
    outgoing.writeHead(response.statusCode!, response.headers);
    // The head is on its way even if no body follows.
    outgoing.flushHeaders();
    let left = step.do === 'cut' ? step.bytes : Number.POSITIVE_INFINITY;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const sent = step.do === 'alter' ? altered(chunk, step) : chunk.subarray(0, left);
      if (!outgoing.write(sent)) await once(outgoing, 'drain');
      left -= chunk.length;
      if (left <= 0) break;
    }
    if (step.do === 'cut') {
      // What was written is to arrive before the reset.
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket!.resetAndDestroy();
    } else outgoing.end();
  }

  /** Sends a request to the service, and reads the answer that the client does not get. */
  async #discard(sent: {
    readonly incoming: IncomingMessage;
    readonly body: Buffer;
  }): Promise<void> {
    (await this.#send(sent)).resume();
  }

  async #send(
    { incoming: { method, url, headers }, body }: { incoming: IncomingMessage; body: Buffer },
    outgoing?: ServerResponse,
  ): Promise<IncomingMessage> {
    const { host: _, connection: __, ...others } = headers;
    const forwarded = request(`${this.#target}${url}`, { method, headers: others, agent: false });
    outgoing?.once('close', () => forwarded.destroy());
    forwarded.end(body);
    const [response] = (await once(forwarded, 'response')) as [IncomingMessage];
    // The service may end a stream that is being cut.
    forwarded.on('error', () => {});
    delete response.headers['keep-alive'];
    delete response.headers.connection;
    return response;
  }
}

/** Replaces text of the same length, so that the length of the body stays. */
function altered(
  chunk: Buffer,
  { from, to }: { readonly from: string; readonly to: string },
): Buffer {
  return Buffer.from(chunk.toString('latin1').replaceAll(from, to), 'latin1');
}

function* endless(): Generator<Buffer> {
  for (;;) yield PIECE;
}
