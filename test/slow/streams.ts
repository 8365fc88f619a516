import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { MAX_STREAMS, MAX_STREAMS_PER_KEY } from '../../src/http/limits.ts';
import { Cluster } from '../postgres.ts';
import { type Running, run, serve, spawnProgram } from '../process/program.ts';

/** Opens a stream of changes; the response is not read unless the test does. */
async function opened(t: TestContext, { port }: Running, secret: string) {
  const sent: ClientRequest = request({
    ...{ host: '127.0.0.1', port, path: '/v2/store/changes/stream?after=now', agent: false },
    headers: { authorization: `Bearer ${secret}` },
  });
  sent.on('error', () => {});
  t.after(() => sent.destroy());
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

test('a stream beyond the limit of a node is 503', {
  timeout: 90_000,
}, async (t) => {
  const service = await serve(t);
  const { database } = service;
  for (let count = 0; count < MAX_STREAMS; count += MAX_STREAMS_PER_KEY) {
    const { stdout } = await run(['keys', 'create', '--name', `k${count}`, '--database', database]);
    const streams = Array.from({ length: MAX_STREAMS_PER_KEY }, () =>
      opened(t, service, stdout.trim()),
    );
    assert.ok((await Promise.all(streams)).every(({ statusCode }) => statusCode === 200));
  }
  const { statusCode } = await opened(t, service, service.secret);
  assert.equal(statusCode, 503);
  assert.match(
    await (await fetch(`${service.operations}/metrics`)).text(),
    /store_orders_streams 2000/,
  );
  assert.equal((await service.call('GET', '/v2/store')).status, 200);
});

test('changes --follow waits for a database that returns; without --follow it fails', {
  timeout: 60_000,
}, async (t) => {
  const cluster = await Cluster.start();
  t.after(() => cluster.remove());
  const database = ['--database', cluster.url()];
  await run(['import', '-', ...database], { input: '{"id":1}\n' });
  const child = spawnProgram(t, ['changes', '--follow', ...database]);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const messages = createInterface({ input: child.stderr! })[Symbol.asyncIterator]();
  assert.match((await lines.next()).value!, /"type":"placed"/);
  await cluster.stop('immediate');
  assert.match((await messages.next()).value!, /waiting for the database/);
  assert.equal((await run(['changes', ...database])).code, 1);
  await cluster.run();
  await run(['ship', '1', ...database]);
  assert.match((await lines.next()).value!, /"type":"shipped"/);
});
