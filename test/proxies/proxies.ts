import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { eventually, freePort } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';

/** A service behind the proxy. */
interface Upstream {
  readonly port: number;
  readonly operationsPort: number;
}

/** A configuration of docs/proxies, with its hosts and paths replaced by local ones. */
function configuration(name: string, nodes: readonly Upstream[], replaced: Record<string, string>) {
  let text = readFileSync(new URL(`../../docs/proxies/${name}`, import.meta.url), 'utf8');
  const replace = (from: string, to: string) => {
    assert.ok(text.includes(from), `${name} does not contain ${from}`);
    text = text.replaceAll(from, to);
  };
  for (const [from, to] of Object.entries(replaced)) replace(from, to);
  for (const [index, node] of nodes.entries()) {
    const address = `127.0.0.1:${node.port}`;
    // All nodes are on one host here, so each has its own port for health checks.
    const port = name === 'haproxy.cfg' ? ` port ${node.operationsPort}` : '';
    replace(`10.0.0.${index + 1}:8080`, address + port);
  }
  return text;
}

/** Runs an installed proxy until the test ends. @param also what else is replaced in its configuration */
export async function startProxy(
  t: TestContext,
  name: 'haproxy' | 'nginx',
  nodes: readonly Upstream[],
  also: Readonly<Record<string, string>> = {},
): Promise<{ port: number; folder: string; proxy: ChildProcess }> {
  const folder = temporaryFolder(t);
  const port = await freePort();
  const tls = (file: string) => readFileSync(new URL(`../tls/${file}`, import.meta.url), 'utf8');
  for (const file of ['server.crt', 'server.key']) writeFileSync(join(folder, file), tls(file));
  writeFileSync(join(folder, 'api.pem'), tls('server.crt') + tls('server.key'));
  mkdirSync(join(folder, 'logs'));
  const config = join(folder, 'config');
  if (name === 'haproxy') {
    const replaced = {
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/haproxy/api.pem': join(folder, 'api.pem'),
      ...also,
    };
    writeFileSync(config, configuration('haproxy.cfg', nodes, replaced));
  } else {
    const replaced = {
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/nginx/api.crt': join(folder, 'server.crt'),
      '/etc/nginx/api.key': join(folder, 'server.key'),
      ...also,
    };
    const pid = `pid ${join(folder, 'pid')}; daemon off; error_log ${join(folder, 'logs/error.log')};\n`;
    writeFileSync(config, pid + configuration('nginx.conf', nodes, replaced));
  }
  const args = name === 'haproxy' ? ['-f', config] : ['-p', folder, '-c', config];
  const proxy = spawn(name, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  proxy.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  proxy.on('error', () =>
    assert.fail(`this test needs ${name}: install it from the system's packages`),
  );
  const exited = once(proxy, 'exit');
  t.after(async () => {
    proxy.kill(name === 'haproxy' ? 'SIGUSR1' : 'SIGTERM');
    setTimeout(() => proxy.kill('SIGKILL'), 2_000).unref();
    await exited;
  });
  await eventually(
    async () => assert.equal((await ask(port, new Agent(), 'GET', '/openapi/v1.json')).status, 200),
    () => stderr,
  );
  return { port, folder, proxy };
}

/** Sends one request through a proxy and reads the whole response. */
export async function ask(
  port: number,
  agent: Agent,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) {
  const where = { host: '127.0.0.1', port, method, path, agent, rejectUnauthorized: false };
  const sent = request({ ...where, headers });
  sent.end();
  const [response] = await once(sent, 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return { status: response.statusCode as number, bytes };
}
