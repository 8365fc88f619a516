import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileDestination } from '../../src/telemetry/log-destinations.ts';
import { eventually } from '../postgres.ts';
import { temporaryFolder } from '../temporary.ts';

/** A pipe that holds 64 KiB. When it is full, writes fail, as on a full disk, until it is read. */
function boundedPipe(t: TestContext) {
  const path = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  const input = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const output = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  t.after(() => {
    closeSync(input);
    closeSync(output);
  });
  const buffer = Buffer.alloc(1 << 20);
  let text = '';
  return {
    output,
    /** Returns everything written so far, and frees space in the pipe. */
    read: () => {
      try {
        for (let bytes = 1; bytes > 0; ) {
          bytes = readSync(input, buffer);
          text += buffer.toString('utf8', 0, bytes);
        }
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
      }
      return text;
    },
  };
}

test('log lines that did not fit into a full file are written once it has space', async (t) => {
  const { output, read } = boundedPipe(t);
  const { write, end } = fileDestination(output);
  const lines = Array.from(
    { length: 5_000 },
    (_, index) => `{"line":${index},"msg":"é ${'x'.repeat(50)}"}\n`,
  );
  for (const line of lines) write(line);
  await eventually(async () => assert.equal(read(), lines.join('')));
  write('{"msg":"later"}\n');
  await end();
  assert.equal(read(), `${lines.join('')}{"msg":"later"}\n`);
});

test('the buffer of unwritten log lines is bounded, and the log reports how many were lost', async (t) => {
  const { output, read } = boundedPipe(t);
  const { write } = fileDestination(output, 200_000);
  const line = `{"msg":"${'x'.repeat(1_000)}"}\n`;
  for (let index = 0; index < 1_000; index += 1) write(line);
  await eventually(async () => assert.match(read(), /"lost":\d+/));
  const kept = read()
    .split('\n')
    .filter((each) => `${each}\n` === line).length;
  const [, lost] = /\{"level":40,"time":\d+,"lost":(\d+),"msg":"log lines were lost/.exec(read())!;
  assert.equal(kept + Number(lost), 1_000);
  assert.ok(kept < 300);
});

test('a log file that cannot be reopened stays in use', {
  skip: process.platform === 'linux' ? false : 'on Linux only',
}, async (t) => {
  const folder = join(temporaryFolder(t), 'logs');
  mkdirSync(folder);
  const fd = openSync(join(folder, 'a.log'), 'a+');
  t.after(() => closeSync(fd));
  const { write, end, reopen } = fileDestination(fd);
  rmSync(folder, { recursive: true });
  const { path, problem } = reopen()!;
  assert.equal(path, join(folder, 'a.log'));
  assert.match(problem!, /ENOENT/);
  write('a line\n');
  await end();
  assert.equal(fstatSync(fd).size, 7);
});
