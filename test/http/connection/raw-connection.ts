import { connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { sampleStore, withList } from '../../process/sample-store.ts';
import { type Answer, parseAnswers } from '../contract-check.ts';
import { type Service, startService } from '../harness.ts';

/** Starts a service of many orders, whose list is in memory. */
export async function serviceWithList(t: TestContext): Promise<Service> {
  return withList(await startService(t, { DATABASE_URL: await sampleStore(t) }));
}

/** Builds requests with the key of a service; `last` has further header lines. */
export const requestsOf =
  ({ secret }: { readonly secret: string }) =>
  (method: string, path: string, last = '', version = '1.1') =>
    `${method} ${path} HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n${last}\r\n`;

export const statuses = (answers: readonly { status: number }[]) =>
  answers.map(({ status }) => status);

/** All responses on a connection, until the service closes it. */
export async function received(socket: Socket): Promise<Answer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return parseAnswers(Buffer.concat(chunks).toString('latin1'));
}

/** Opens connections, and collects those that the service closes. */
export function connections(port: number, count: number) {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  const closed = new Set<Socket>();
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.once('close', () => closed.add(socket));
  }
  return { sockets, closed };
}
