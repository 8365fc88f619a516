import { once } from 'node:events';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { parsePosition } from '../../../../protocol/history.ts';
import type { Config } from '../../../service/settings/config.ts';
import { urlHost } from '../../../service/settings/parsers.ts';
import type { Database } from '../../../store/database.ts';
import { type Finding, ok, problem } from '../../../store/diagnosis.ts';
import { StoreNotUsable, StoreUnavailable } from '../../../store/store.ts';

/** Timeout for the response of a running service, which may be busy. */
const ANSWER_WITHIN_MS = 3_000;

/** Checks the service if it is running; otherwise checks whether it can listen. */
export async function portsOf(config: Config): Promise<Finding[]> {
  const { host, port, admin, reusePort } = config;
  const url = `http://${urlHost(admin.host)}:${admin.port}`;
  // Not /readyz: the service would take this request for a load balancer's, and its next stop would wait for the balancer.
  const metrics = await answerOf(`${url}/metrics`);
  const ready = /^store_orders_ready (\d)$/m.exec(metrics ?? '')?.[1];
  const other = await otherStoreOf(url, metrics ?? '', config);
  if (other !== undefined) {
    const found = `the service at ${url} serves another store, ${other}`;
    const advice =
      'set PORT and OPERATIONS_PORT to other ports, or run doctor with the environment of that service';
    return [problem('ports', found, advice)];
  }
  if (ready === '1') return [ok('ports', `a service is running, and ready (${url}/readyz)`)];
  if (ready === '0') {
    const reason = (await answerOf(`${url}/readyz`))?.trim();
    return [problem('ports', `a service is running, and not ready: ${reason}`, 'see its log')];
  }
  const own = { name: 'PORT', host, port };
  const listeners = [{ name: 'OPERATIONS_PORT', ...admin }];
  // Connections to a service that shares the port would arrive at this probe.
  return Promise.all((reusePort ? listeners : [own, ...listeners]).map(listenerOf));
}

/** Returns the database of a service that serves another store; undefined for this one, or no service. */
async function otherStoreOf(
  url: string,
  metrics: string,
  { database }: Config,
): Promise<string | undefined> {
  const [, label, identity] = INFO.exec(metrics) ?? [];
  const served = label?.replaceAll(/\\(.)/g, '$1');
  if (served === undefined || (await isServed(url, database, { served, identity })))
    return undefined;
  return `${served} (${identity})`;
}

const INFO = /^store_orders_store_info\{database="(.*)",store="(\w+)"\} 1$/m;

/**
 * Whether the service at `url` serves this store. The same database can have several names: then the head of the service must be between two of
 * the store. In containers, the databases of several stores have the same name, but not the same identity.
 */
async function isServed(
  url: string,
  database: Database,
  { served, identity }: { readonly served: string; readonly identity: string | undefined },
): Promise<boolean> {
  const hasName = served === database.label;
  try {
    await using store = await database.open({ create: false, purpose: 'read' });
    const { revision, identity: own } = await store.status({ evenIfMoved: true });
    if (own !== identity) return false;
    if (hasName) return true;
    const head = parsePosition((await answerOf(`${url}/head`))?.trim() ?? '');
    // At revision 0 all stores have the same head.
    if (head === undefined || head.revision === 0n || head.revision < revision) return false;
    return (await store.feed(head, 1)) !== undefined;
  } catch (error) {
    if (error instanceof StoreNotUsable || error instanceof StoreUnavailable) return hasName;
    throw error;
  }
}

/** Sends GET. fetch is not used because it refuses some ports. */
async function answerOf(url: string): Promise<string | undefined> {
  const request = get(url, { agent: false, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  try {
    const [response] = await once(request, 'response');
    return await text(response);
  } catch {
    return undefined;
  }
}

async function listenerOf({
  name,
  host,
  port,
}: Pick<Config, 'host' | 'port'> & { readonly name: string }): Promise<Finding> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen({ host, port });
    await once(server, 'listening');
    return ok('ports', `${urlHost(host)}:${port} is free`);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isUsed = code === 'EADDRINUSE';
    const found = isUsed ? `${urlHost(host)}:${port} is used by another program` : message;
    const advice = isUsed ? `stop that program, or set ${name}` : `correct HOST and ${name}`;
    return problem('ports', found, advice);
  } finally {
    server.close();
  }
}
