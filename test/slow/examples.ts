// The programs in examples/, with the client as npm installs it.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installPacked } from '../client/packed.ts';
import { freePort } from '../postgres.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

function started(t: TestContext, folder: string, args: readonly string[], env: object) {
  const child = spawn(process.execPath, [...args], {
    cwd: folder,
    env: { ...process.env, ...env },
  });
  t.after(() => child.kill());
  child.stderr.on('data', (text) => t.diagnostic(String(text)));
  return child;
}

/** Waits until a program has printed a text, and returns what it has printed since the last call. */
async function printed(child: ChildProcess, expected: RegExp): Promise<string> {
  let text = '';
  const isThere = Promise.withResolvers<void>();
  const onText = (chunk: Buffer) => {
    text += chunk;
    if (expected.test(text)) isThere.resolve();
  };
  child.stdout!.on('data', onText);
  child.once('exit', () => isThere.reject(new Error(`it has ended, and printed ${text}`)));
  await isThere.promise;
  child.stdout!.off('data', onText);
  return text;
}

test('the examples run as they are', { timeout: 100_000 }, async (t) => {
  const folder = temporaryFolder(t);
  installPacked(folder);
  cpSync(EXAMPLES, folder, { recursive: true, filter: (path) => !path.endsWith('package.json') });
  const service = await serve(t, [], {
    env: { WEBHOOK_ALLOW: '127.0.0.1,http' },
  });
  const env = { STORE_ORDERS_URL: service.origin, STORE_ORDERS_KEY: service.secret };

  const copy = started(t, folder, ['exact-copy.js'], env);
  await printed(copy, /revision 0: no orders/);

  const port = await freePort();
  const { stdout: secret } = await run(
    [
      ...['webhooks', 'create', `http://127.0.0.1:${port}/`, '--after', 'start'],
      ...['--database', service.database],
    ],
    { env: { WEBHOOK_ALLOW: '127.0.0.1,http' } },
  );
  const receiver = started(t, folder, ['webhook-receiver.js'], {
    PORT: String(port),
    WEBHOOK_SECRET: secret.trim(),
  });
  await printed(receiver, /listening/);

  const place = started(t, folder, ['place-and-cancel.js', '412'], env);
  const [text, received, copied] = await Promise.all([
    printed(place, /is cancelled/),
    printed(receiver, /cancelled 1n/),
    printed(copy, /1 cancelled/),
  ]);
  assert.equal(text, 'order 1 is pending\norder 1 is cancelled\n');
  assert.match(received, /placed 1n\ncancelled 1n/);
  assert.match(copied, /revision 2: 1 cancelled/);

  const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
  assert.equal(unsigned.status, 401);
  copy.kill('SIGTERM');
  assert.deepEqual(await once(copy, 'exit'), [0, null]);
  const database = new DatabaseSync(join(folder, 'orders.db'), { readOnly: true });
  assert.equal(database.prepare('SELECT status FROM orders').get()!.status, 'cancelled');
  database.close();
});
