// Receives webhooks. Takes the origin of the service, the Authorization header, how many webhooks to create and after which cursor,
// and how many changes each gets as arguments. Prints changes per second, over all webhooks, from the first delivery to the last one.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [origin, authorization, count, after, total] = process.argv.slice(2) as [
  ...[string, string, string, string, string],
];
const left = new Map<string, number>();
let [begin, received] = [0, 0];

const server = createServer((request, response) => {
  begin ||= performance.now();
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    // Not parsed: the receiver shares its core with other load.
    const changes = body.split('"type":').length - 1;
    response.writeHead(204).end();
    received += changes;
    left.set(request.url!, left.get(request.url!)! - changes);
    if ([...left.values()].every((each) => each <= 0)) void finish();
  });
});

async function call(method: string, path: string, value?: object): Promise<unknown> {
  const headers = { authorization, 'content-type': 'application/json' };
  const body = value === undefined ? {} : { body: JSON.stringify(value) };
  const response = await fetch(`${origin}/v2/webhooks${path}`, { method, headers, ...body });
  if (!response.ok) throw new Error(`${method} ${response.status}: ${await response.text()}`);
  return response.status === 204 ? undefined : await response.json();
}

const ids: string[] = [];

async function finish(): Promise<void> {
  const rate = received / ((performance.now() - begin) / 1_000);
  server.close();
  server.closeAllConnections();
  for (const id of ids) await call('DELETE', `/${id}`);
  process.stdout.write(String(rate));
}

server.listen(0, '127.0.0.1', async () => {
  const { port } = server.address() as AddressInfo;
  for (let index = 0; index < Number(count); index += 1) {
    left.set(`/${index}`, Number(total));
    const url = `http://127.0.0.1:${port}/${index}`;
    const { webhook } = (await call('POST', '', { url, after })) as { webhook: { id: string } };
    ids.push(webhook.id);
  }
});
