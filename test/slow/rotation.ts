// "Changing passwords and certificates" of docs/postgresql.md, step by step, under load.
import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Cluster } from '../postgres.ts';
import { Cancels } from '../process/cancels.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const ORDERS = 20_000;
const certificate = (name: string) => readFileSync(new URL(`../tls/${name}.crt`, import.meta.url));

/** A file that is replaced as a whole, so that it is never read half written. */
function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** A node under load, connected as the role shop by TLS, whose certificate it verifies. */
async function startNode(t: TestContext) {
  const cluster = await Cluster.start({ ssl: 'on' });
  t.after(() => cluster.remove());
  await cluster.admin(`CREATE ROLE shop LOGIN SUPERUSER PASSWORD 'first'`);
  await cluster.requirePassword('shop');
  const folder = temporaryFolder(t);
  const [urlFile, roots] = [join(folder, 'url'), join(folder, 'roots.crt')];
  const url = (password: string) =>
    `postgres://shop:${password}@localhost:${cluster.port}/postgres?sslmode=verify-full&sslrootcert=${roots}`;
  replace(urlFile, url('first'));
  replace(roots, certificate('server'));
  const input = Array.from({ length: ORDERS }, (_, index) => `{"id":${index + 1}}\n`).join('');
  const imported = await run(['import', '-', '--database-file', urlFile], { input });
  assert.equal(imported.code, 0, imported.stderr);
  const node = await serve(t, [], { env: { DATABASE_URL_FILE: urlFile } });
  const cancels = new Cancels(t, [node.origin], node.secret);
  await cancels.more(200);
  const endConnections = () =>
    cluster.admin(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'shop'`,
    );
  return { cluster, urlFile, roots, url, cancels, endConnections };
}

/** Every cancel that was acknowledged is in the store. */
async function assertKept({ cluster, cancels }: Awaited<ReturnType<typeof startNode>>) {
  await cancels.stop();
  const [[cancelled]] = (await cluster.admin(
    `SELECT count(*) FROM orders WHERE status = 'cancelled' AND id IN (${cancels.acknowledged})`,
  )) as [[string]];
  assert.equal(cancelled, String(cancels.acknowledged.length));
}

test('a password of PostgreSQL is changed without a request that fails', {
  timeout: 90_000,
}, async (t) => {
  const node = await startNode(t);
  const { cluster, urlFile, url, cancels, endConnections } = node;
  // 1. The role gets the new password; connections go on with the old one.
  await cluster.admin(`ALTER ROLE shop PASSWORD 'second'`);
  await cancels.more(200);
  // 2. The file is replaced; new connections use it.
  replace(urlFile, url('second'));
  await cancels.more(200);
  assert.deepEqual(cancels.repeated, {});
  // 3. Connections are ended by hand, for example by a restart of the server: none is made with the old password.
  await endConnections();
  await cancels.more(200);
  assert.ok(!('no answer' in cancels.repeated), JSON.stringify(cancels.repeated));
  await assertKept(node);
});

test('the certificate of PostgreSQL is changed without a request that fails', {
  timeout: 90_000,
}, async (t) => {
  const node = await startNode(t);
  const { cluster, roots, cancels, endConnections } = node;
  // 1. Both certificates are trusted.
  replace(roots, Buffer.concat([certificate('server'), certificate('next')]));
  // 2. The server uses the new one for new connections.
  await cluster.useNextCertificate();
  await cancels.more(200);
  assert.deepEqual(cancels.repeated, {});
  await endConnections();
  await cancels.more(200);
  // 3. The old one is no longer trusted.
  replace(roots, certificate('next'));
  await endConnections();
  await cancels.more(200);
  assert.ok(!('no answer' in cancels.repeated), JSON.stringify(cancels.repeated));
  await assertKept(node);
});
