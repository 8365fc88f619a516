import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  GoneError,
  NotFoundError,
  ResponseError,
  StoreOrders,
  stringify,
} from '../../client/src/client.ts';
import { VECTORS } from '../domain/head-vectors.ts';
import { eventually, freePort } from '../postgres.ts';
import { NEEDS_PYTHON } from '../process/needs.ts';
import { run, serve } from '../process/program.ts';
import { ENGINES } from '../store/engines.ts';
import { temporaryFolder } from '../temporary.ts';

const PAGE = readFileSync(new URL('../../docs/integrating.md', import.meta.url), 'utf8');
const KILLS = 4;

/** Places, cancels and ships orders in a random sequence until it is stopped; conflicts are part of it. */
function changeOrders(store: StoreOrders) {
  let isOver = false;
  let placed = 0;
  const work = async () => {
    while (!isOver) {
      placed += 1;
      const { id } = await store.placeOrder({ petId: BigInt(placed), quantity: 1n });
      const other = id - BigInt(Math.floor(Math.random() * 20));
      // Some have a reason or a tracking number, with characters that JSON escapes or need not escape.
      const detail = Math.random() < 0.5 ? `Käfig "${placed}" \\ \u2028 🐹` : undefined;
      const change =
        Math.random() < 0.5
          ? store.cancelOrder(other, { reason: detail })
          : store.shipOrder(other, { trackingNumber: detail });
      await change.catch((error) => {
        if (!(error instanceof ResponseError || error instanceof NotFoundError)) throw error;
      });
    }
  };
  const workers = Promise.all(Array.from({ length: 8 }, work));
  return {
    more: (count: number) => {
      const target = placed + count;
      return eventually(async () => assert.ok(placed >= target));
    },
    stop: async () => {
      isOver = true;
      await workers;
    },
  };
}

/** The verifier of the guide. */
function verifierIn(t: TestContext): string {
  const file = join(temporaryFolder(t), 'verify_history.py');
  const [, program] = /```python\n(# verify_history\.py.*?)```/s.exec(PAGE)!;
  writeFileSync(file, program!);
  return file;
}

test('the verifier in Python accepts the golden vectors, and refuses those that must be', {
  skip: NEEDS_PYTHON,
}, async (t) => {
  const { revisions, refused } = VECTORS;
  const last = revisions.at(-1)!;
  const golden = {
    ...{ after: `0-${'0'.repeat(64)}`, next: `${last.revision}-${last.head}` },
    changes: revisions.flatMap(({ changes }) => changes),
  };
  const pages = new Map<string, string>();
  const server = createServer(({ url }, response) =>
    response.end(pages.get(new URL(url!, 'http://x').searchParams.get('after')!)),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const file = verifierIn(t);
  const env = {
    ...process.env,
    STORE_ORDERS_URL: `http://127.0.0.1:${port}`,
    STORE_ORDERS_KEY: '',
  };
  const verify = async ({ after, changes, next }: Omit<(typeof refused)[number], 'why'>) => {
    pages.set(after, stringify({ changes, next, more: false }));
    return promisify(execFile)('python3', [file, after], { env });
  };
  assert.equal((await verify(golden)).stdout, `verified up to ${golden.next}\n`);
  for (const page of refused) {
    await assert.rejects(verify(page), /contradicts itself|are not those that/, page.why);
  }
});

for (const { name, newDatabase } of ENGINES) {
  test(`${name}: verifiers in JavaScript and Python reproduce every head through kills and restores`, {
    skip: NEEDS_PYTHON,
    timeout: 100_000,
  }, async (t) => {
    const database = await newDatabase(t);
    const flags = ['--port', String(await freePort())];
    let service = await serve(t, flags, { database });
    const { origin, secret } = service;
    const store = new StoreOrders({ baseUrl: origin, apiKey: secret, retries: 100 });
    const file = verifierIn(t);
    const env = { ...process.env, STORE_ORDERS_URL: origin, STORE_ORDERS_KEY: secret };
    const verified = async (...from: string[]) =>
      (await promisify(execFile)('python3', [file, ...from], { env })).stdout.trim();

    /** Cursors that the follower was given; after a restore it begins again. */
    let cursors: string[] = [];
    let restores = 0;
    const ending = new AbortController();
    const following = (async () => {
      while (!ending.signal.aborted) {
        try {
          const after = cursors.at(-1) ?? 'start';
          const { signal } = ending;
          for await (const { cursor } of store.changes({ after, signal, verify: true })) {
            cursors.push(cursor);
          }
        } catch (error) {
          if (ending.signal.aborted) return;
          if (!(error instanceof GoneError)) throw error;
          restores += 1;
          cursors = [];
        }
      }
    })();
    const headOfCheck = async () => {
      const { stdout } = await run(['check', '--json', '--database', database]);
      const { revision, head, problems } = JSON.parse(stdout);
      assert.deepEqual(problems, []);
      return `${revision}-${head}`;
    };
    const killed = async () => {
      service.child.kill('SIGKILL');
      await pause(Math.random() * 500);
      service = await serve(t, flags, { database, expectsKey: false });
    };

    let working = changeOrders(store);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await working.more(100);
      await killed();
    }
    let common: string | undefined;
    if (name === 'SQLite') {
      const backup = join(temporaryFolder(t), 'backup.db');
      const on = ['--database', database];
      common = cursors.at(-1);
      assert.equal((await run(['backup', backup, ...on])).code, 0);
      await working.more(100);
      await working.stop();
      // The follower has changes that the restored store does not have.
      const lost = await headOfCheck();
      await eventually(async () => assert.equal(cursors.at(-1), lost));
      assert.equal(await service.stop(), 0);
      assert.equal((await run(['restore', backup, ...on])).code, 0);
      service = await serve(t, flags, { database, expectsKey: false });
      working = changeOrders(store);
      await working.more(100);
    }
    await working.stop();
    const latest = await headOfCheck();
    await eventually(async () => assert.equal(cursors.at(-1), latest));
    ending.abort();
    await following;
    assert.equal(restores, name === 'SQLite' ? 1 : 0);
    assert.equal(await verified(), `verified up to ${latest}`);
    const kept = [...cursors.filter((_, index) => index % 100 === 0), common];
    for (const cursor of kept) {
      if (cursor !== undefined) assert.equal(await verified(cursor), `verified up to ${latest}`);
    }
  });
}
