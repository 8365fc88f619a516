import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Config } from '../../config/config.ts';
import { urlHost } from '../../config/parsers.ts';
import { type Finding, ok, problem } from '../../store/diagnosis.ts';

/** A service that is busy answers later than one that is not; one that hangs does not answer. */
const ANSWER_WITHIN_MS = 3_000;

/** Looks at the service, if it is running, and otherwise whether it can listen. */
export async function portsOf({ host, port, operations, reusePort }: Config): Promise<Finding[]> {
  const url = `http://${urlHost(operations.host)}:${operations.port}`;
  // A ready /readyz would count as a load balancer's, and the next stop would wait for it.
  const metrics = await answerOf(`${url}/metrics`);
  const ready = /^store_orders_ready (\d)$/m.exec(metrics ?? '')?.[1];
  if (ready === '1') return [ok('ports', `a service is running, and ready (${url}/readyz)`)];
  if (ready === '0') {
    const reason = (await answerOf(`${url}/readyz`))?.trim();
    return [problem('ports', `a service is running, and not ready: ${reason}`, 'see its log')];
  }
  const own = { name: 'PORT', host, port };
  const listeners = [{ name: 'OPERATIONS_PORT', ...operations }];
  // Connections of a service that shares the port would come here.
  return Promise.all((reusePort ? listeners : [own, ...listeners]).map(listenerOf));
}

/** Not by fetch, which refuses some ports. */
async function answerOf(url: string): Promise<string | undefined> {
  const request = get(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  try {
    const [response] = await once(request, 'response');
    return await text(response);
  } catch {
    return undefined;
  }
}

async function listenerOf(listener: {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}): Promise<Finding> {
  const { name, host, port } = listener;
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return ok('ports', `${urlHost(host)}:${port} is free`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isUsed = code === 'EADDRINUSE';
    const found = isUsed ? `${urlHost(host)}:${port} is used by another program` : message;
    const advice = isUsed ? `stop it, or set ${name} to another port` : `correct HOST and ${name}`;
    return problem('ports', found, advice);
  } finally {
    server.close();
  }
}
