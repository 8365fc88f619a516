import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../../config/config.ts';
import { urlHost } from '../../config/parsers.ts';
import { type Finding, ok, problem } from '../../store/diagnosis.ts';

/** A service that is busy answers later than one that is not; one that hangs does not answer. */
const READY_WITHIN_MS = 3_000;

/** Looks at the service, if it is running, and otherwise whether it can listen. */
export async function portsOf({ host, port, operations, reusePort }: Config): Promise<Finding[]> {
  const url = `http://${urlHost(operations.host)}:${operations.port}/readyz`;
  const response = await fetch(url, { signal: AbortSignal.timeout(READY_WITHIN_MS) }).catch(
    () => undefined,
  );
  if (response?.ok) return [ok('ports', `a service is running, and ready (${url})`)];
  if (response?.status === 503) {
    const reason = (await response.text()).trim();
    return [problem('ports', `a service is running, and not ready: ${reason}`, 'see its log')];
  }
  const listeners = [
    { name: 'PORT', host, port, reusePort },
    { name: 'OPERATIONS_PORT', ...operations, reusePort: false },
  ];
  return Promise.all(listeners.map(listenerOf));
}

async function listenerOf(listener: {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly reusePort: boolean;
}): Promise<Finding> {
  const { name, host, port, reusePort } = listener;
  const server = createServer();
  try {
    server.listen({ host, port, reusePort });
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
