import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { verifyWebhook, type WebhookDelivery } from '../../client/src/client.ts';

/** A delivery as it arrived. */
export interface Received extends WebhookDelivery {
  readonly id: string;
  /** What it was answered. */
  readonly status: number;
  /** The number of its signatures, and the bytes of its body. */
  readonly signatures: number;
  readonly bytes: number;
}

/** How a receiver answers a delivery: a status, nothing until the connection ends, or a reset of the connection. */
type Answered = number | 'nothing' | 'reset';
export type Behaviour = (delivery: WebhookDelivery, index: number) => Answered | Promise<Answered>;

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  /** Deliveries that were accepted, without repetitions. */
  readonly accepted: () => readonly Received[];
  /** The highest number of requests at the same time. */
  readonly mostAtOnce: () => number;
}

/** Listens for deliveries, and verifies them with a secret of the list; others are answered 400. */
export async function startReceiver(
  t: TestContext,
  secrets: () => readonly string[],
  behave: Behaviour = () => 204,
): Promise<Receiver> {
  const received: Received[] = [];
  let [now, most, count] = [0, 0, 0];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    now += 1;
    most = Math.max(most, now);
    response.on('close', () => {
      now -= 1;
    });
    const body = await text(request);
    const delivery = await verifiedBy(secrets(), body, request);
    const status = await behave(delivery, count++);
    const id = String(request.headers['webhook-id']);
    received.push({
      ...{ ...delivery, id, status: typeof status === 'number' ? status : 0 },
      signatures: String(request.headers['webhook-signature']).split(' ').length,
      bytes: Buffer.byteLength(body),
    });
    if (status === 'nothing') return;
    if (status === 'reset') request.socket.resetAndDestroy();
    else response.writeHead(status, { location: 'http://127.0.0.1:1/', 'retry-after': '0' }).end();
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(400).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    accepted: () => {
      const accepted = received.filter(({ status }) => status >= 200 && status < 300);
      return [...new Map(accepted.map((each) => [each.id, each])).values()];
    },
    mostAtOnce: () => most,
  };
}

async function verifiedBy(
  secrets: readonly string[],
  body: string,
  { headers }: IncomingMessage,
): Promise<WebhookDelivery> {
  for (const secret of secrets) {
    try {
      return await verifyWebhook(body, headers, secret);
    } catch {
      // Perhaps another one has signed it.
    }
  }
  throw new Error('no secret has signed this');
}
