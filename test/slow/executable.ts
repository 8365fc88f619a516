// The executable: one file that needs neither Node.js nor a folder of its own.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../src/version.ts';
import { run, serve } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RELEASE = join(ROOT, 'release');

test('the executable is a running store with all of its pages, threads and commands', {
  skip: process.platform === 'linux' ? false : 'on Linux only',
  timeout: 200_000,
}, async (t) => {
  execFileSync(process.execPath, ['build/executable.ts'], { cwd: ROOT, stdio: 'pipe' });
  const name = `store-orders-${VERSION}-${process.platform}-${process.arch}`;
  execFileSync('sha256sum', ['--check', `${name}.sha256`], { cwd: RELEASE, stdio: 'pipe' });
  const licences = readFileSync(join(RELEASE, `${name}.LICENSES`), 'utf8');
  for (const each of ['Node.js v', 'lit-html ', 'lean-qr ', 'pg ', 'ajv ', 'pino ']) {
    assert.ok(licences.includes(`\n${each}`), each);
  }

  const folder = temporaryFolder(t);
  // "env" is not found in this PATH, so the program is started without a Node.js or a shell to fall back on.
  const options = { executable: join(RELEASE, name), env: { PATH: folder } };
  const service = await serve(t, ['--sample', '10'], options);
  assert.equal((await service.call('DELETE', '/v1/store/orders/10')).status, 204);
  for (const path of ['/console', '/reference', '/openapi/v2.yaml']) {
    assert.equal((await fetch(service.origin + path)).status, 200, path);
  }
  const page = await (await fetch(`${service.origin}/console`)).text();
  const [script] = /\/console\/[^"]+\.js/.exec(page)!;
  assert.match(await (await fetch(service.origin + script)).text(), /Sign in to/);

  const database = ['--database', service.database];
  const backup = join(folder, 'backup.db');
  for (const [args, expected] of [
    [['backup', backup, ...database], /backup/i],
    [['check', ...database], /./],
    [['export', ...database], /"status":"cancelled"/],
    [['changes', '--verify', ...database], /"cancelled"/],
    [['keys', 'list', ...database], /key_/],
    [['doctor', ...database], /./],
    [['check', '--database', `sqlite:${backup}`], /./],
  ] as const) {
    const { code, stdout, stderr } = await run(args, options);
    assert.ok(code === 0 || args[0] === 'doctor', `${args[0]}: ${stderr}`);
    assert.match(stdout + stderr, expected, args[0]);
  }
  assert.equal(await service.stop(), 0);
});
