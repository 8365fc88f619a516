import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serve } from '../process/program.ts';

const CLIENT = fileURLToPath(new URL('../../client', import.meta.url));

export function npm(args: readonly string[], cwd: string): void {
  execFileSync('npm', [...args, '--silent', '--no-audit', '--no-fund'], { cwd });
}

/** Packs the client and installs it in `folder`, which is empty. */
export function installPacked(folder: string): void {
  npm(['pack', '--pack-destination', folder], CLIENT);
  const [tarball] = readdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  npm(['install', '--offline', `./${tarball}`], folder);
}

/** The programs of README.md, each with the output it shows. */
function examples() {
  const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
  const pairs = readme.matchAll(/```js\n(\/\/ (\S+)\n.*?)```\n\n```text\n(.*?)```/gs);
  return [...pairs].map(([, code, name, output]) => ({
    name: name!,
    code: code!,
    output: output!,
  }));
}

/** Runs the examples of README.md in a project with the client, against a new store, and compares what they print. */
export async function assertExamplesRun(
  t: TestContext,
  project: string,
  runtime: string,
): Promise<void> {
  const service = await serve(t);
  const env = { ...process.env, BASE_URL: service.origin, KEY: service.secret };
  assert.equal(examples().length, 4);
  for (const { name, code, output } of examples()) {
    writeFileSync(join(project, name), code);
    const printed = execFileSync(runtime, [name], { cwd: project, env, encoding: 'utf8' });
    const pattern = output.split('…').map(RegExp.escape).join('.*');
    assert.match(printed, new RegExp(`^${pattern}$`), name);
  }
}
