import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';
import { PROGRAM, run, serve } from './program.ts';

const ORIGIN = { origin: 'https://shop.example' };

const loggedIn = (text: string, message: string) =>
  text
    .split('\n')
    .filter((line) => line.includes(`"msg":"${message}`))
    .map((line) => JSON.parse(line));

test('SIGHUP rereads the settings that can change, logs them, and interrupts no request', async (t) => {
  const file = join(temporaryFolder(t), 'settings');
  // The file is above the environment.
  const env = { SETTINGS_FILE: file, LOG_LEVEL: 'silent' };
  // Variables of OpenTelemetry are read from the environment only.
  const otel = 'OTEL_EXPORTER_OTLP_ENDPOINT=nonsense\n';
  writeFileSync(file, `LOG_LEVEL=info\n# a comment\nDRAIN_SECONDS=0\n${otel}`);
  const { call, child, stdout, stop } = await serve(t, [], { env });
  const allowed = async () =>
    (await call('GET', '/v1/store/orders', ORIGIN)).headers['access-control-allow-origin'];
  assert.equal(await allowed(), undefined);
  assert.doesNotMatch(stdout(), /traces/);
  writeFileSync(file, 'LOG_LEVEL=debug\nCORS_ORIGINS="https://shop.example"\nDRAIN_SECONDS=1\n');
  child.kill('SIGHUP');
  await eventually(async () => assert.equal(await allowed(), 'https://shop.example'));
  await eventually(async () => {
    await call('DELETE', '/v1/store/orders/1');
    assert.match(stdout(), /committed a batch/);
  });
  const [reread] = loggedIn(stdout(), 'reread the settings');
  assert.deepEqual(
    [reread.logLevel, reread.corsOrigins, reread.needRestart],
    ['debug', ['https://shop.example'], ['DRAIN_SECONDS']],
  );
  writeFileSync(file, 'LOG_LEVEL=loud\n');
  child.kill('SIGHUP');
  await eventually(async () => {
    const [refused] = loggedIn(stdout(), 'the settings are invalid and were not reread');
    assert.match(refused.problems[0], /^LOG_LEVEL must be trace .*not "loud"$/);
  });
  assert.equal(await allowed(), 'https://shop.example');
  assert.equal(await stop(), 0);
});

test('SIGHUP reopens a renamed log file', {
  skip: process.platform === 'linux' ? false : 'on Linux only',
}, async (t) => {
  const folder = temporaryFolder(t);
  const [log, old] = [join(folder, 'a.log'), join(folder, 'a.log.1')];
  const flags = ['--database', `sqlite:${join(folder, 'store.db')}`, '--port', '0'];
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...flags, '--operations-port', '0'], {
    stdio: ['ignore', openSync(log, 'a'), 'ignore'],
  });
  const ended = once(child, 'close');
  t.after(() => child.kill('SIGKILL'));
  await eventually(async () => assert.match(readFileSync(log, 'utf8'), /Server listening/));
  renameSync(log, old);
  child.kill('SIGHUP');
  await eventually(async () => {
    const [reread] = loggedIn(readFileSync(log, 'utf8'), 'reread the settings');
    assert.equal(reread.logFile, log);
  });
  child.kill('SIGTERM');
  await ended;
  assert.match(readFileSync(log, 'utf8'), /"msg":"stopped"/);
  assert.doesNotMatch(readFileSync(old, 'utf8'), /reread|stopped/);
});

test('SIGUSR1 opens no debugger', async (t) => {
  const { child, stderr, call } = await serve(t);
  child.kill('SIGUSR1');
  child.kill('SIGUSR2');
  // Signals are handled in order, and the log level has changed by the time of this line.
  await eventually(async () => {
    assert.equal((await call('GET', '/v1/store/orders')).status, 200);
  });
  assert.equal(child.exitCode, null);
  assert.doesNotMatch(stderr(), /Debugger/);
});

test('a log file that cannot be reopened is a warning', {
  skip: process.platform === 'linux' ? false : 'on Linux only',
}, async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'logs'));
  const log = join(folder, 'logs', 'a.log');
  const flags = ['--database', `sqlite:${join(folder, 'store.db')}`, '--port', '0'];
  const child = spawn(process.execPath, [PROGRAM, 'serve', ...flags, '--operations-port', '0'], {
    stdio: ['ignore', openSync(log, 'a'), 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  await eventually(async () => assert.match(readFileSync(log, 'utf8'), /Server listening/));
  const moved = join(folder, 'logs.1');
  renameSync(join(folder, 'logs'), moved);
  child.kill('SIGHUP');
  await eventually(async () => {
    const lines = readFileSync(join(moved, 'a.log'), 'utf8');
    const [warning] = loggedIn(lines, 'the log file cannot be reopened');
    assert.deepEqual([warning.level, warning.path], [40, log]);
    assert.match(warning.problem, /ENOENT/);
  });
});

for (const signal of ['SIGHUP', 'SIGUSR2'] as const) {
  test(`${signal} during startup does not end the service`, async (t) => {
    // Sent as soon as the first file of the program listens to signals, before any other part of it is loaded.
    const preload = join(temporaryFolder(t), 'signal.cjs');
    const send = `setImmediate(() => process.kill(process.pid, '${signal}'))`;
    writeFileSync(preload, `process.once('newListener', () => ${send});`);
    const { call } = await serve(t, [], { nodeFlags: ['--require', preload] });
    assert.equal((await call('GET', '/v1/store/orders')).status, 200);
  });
}

test('a settings file that cannot be read is a problem of the configuration', async () => {
  const { code, stderr } = await run(['keys', 'list'], { env: { SETTINGS_FILE: '/nowhere' } });
  assert.equal(code, 2);
  assert.match(stderr, /SETTINGS_FILE must be a readable file: ENOENT/);
});
