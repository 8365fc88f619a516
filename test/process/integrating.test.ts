import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CONTRACTS } from '../http/contract-check.ts';
import { temporaryFolder } from '../temporary.ts';
import { run, serve } from './program.ts';

/** The JavaScript code blocks of a Markdown text. */
function programsIn(markdown: string): string[] {
  return [...markdown.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!);
}

test('the program in docs/integrating.md cancels exactly the given order, even above 2^53', async (t) => {
  const { origin, secret, database } = await serve(t);
  const ids = ['9007199254740991', '9007199254740992', '9007199254740993', '9007199254740994'];
  const input = ids.map((id) => `{"id":${id}}\n`).join('');
  await run(['import', '-', '--database', database], { input });
  const markdown = readFileSync(new URL('../../docs/integrating.md', import.meta.url), 'utf8');
  const [program] = programsIn(markdown);
  const file = join(temporaryFolder(t), 'cancel.mjs');
  writeFileSync(file, program!);
  const env = { ...process.env, BASE_URL: `${origin}/v1`, KEY: secret };
  for (const id of ['9007199254740993', '9007199254740991']) {
    const { stdout } = await promisify(execFile)(process.execPath, [file, id], { env });
    assert.equal(stdout, `order ${id} is cancelled\n`);
  }
  const shown = await run(['export', '--database', database]);
  const cancelled = [...shown.stdout.matchAll(/"id":(\d+),"status":"cancelled"/g)];
  assert.deepEqual(
    cancelled.map(([, id]) => id),
    ['9007199254740991', '9007199254740993'],
  );
});

test('the example code in the contract parses ids exactly', async () => {
  const [line] = programsIn(CONTRACTS.v1!.info.description);
  const body = '[{"id":9007199254740993,"quantity":1,"complete":true}]';
  const read = new Function('response', `return (async () => {${line}; return orders;})()`);
  const [order] = await read(new Response(body));
  assert.deepEqual(order, { id: 9007199254740993n, quantity: 1n, complete: true });
});
