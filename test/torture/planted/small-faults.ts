import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SmallFault } from './small-fault.ts';

const EDGES = fileURLToPath(new URL('edges', import.meta.url));
/** A run of tests that takes longer is killed, and shows nothing: each test has a limit of its own, which is shorter. */
const TESTS_END_WITHIN_MS = 600_000;
const KILLED = null;
/** A fault may leave a name without a use. */
const TYPES_ONLY = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];

/** The small faults, with the area that they are of: a file of edges/, which exports them. */
export const SMALL_FAULTS: readonly (SmallFault & { readonly area: string })[] = (
  await Promise.all(
    globSync('*.ts', { cwd: EDGES })
      .sort()
      .map(async (file) => {
        const exported: Record<string, readonly SmallFault[]> = await import(join(EDGES, file));
        const area = `edges/${basename(file, '.ts')}`;
        return Object.values(exported).flatMap((faults) =>
          faults.map((fault) => ({ ...fault, area })),
        );
      }),
  )
).flat();

/** Plants a fault in a copy of the project. @throws Error if its text does not occur exactly once */
export function plantSmallFault(copy: string, { name, file, text, fault }: SmallFault): void {
  const path = join(copy, file);
  const [before, after, ...others] = readFileSync(path, 'utf8').split(text);
  if (after === undefined || others.length > 0) throw new Error(`${name} has no place in ${file}`);
  writeFileSync(path, `${before}${fault}${after}`);
}

/** @throws Error if the copy is no valid program, so that any test of it would fail */
export async function checkTypes(copy: string): Promise<void> {
  const tsc = join(copy, 'node_modules/typescript/bin/tsc');
  const { code, output } = await runIn(copy, [tsc, '--noEmit', ...TYPES_ONLY]);
  if (code !== 0) throw new Error(output);
}

/** Runs the tests of a copy whose path has one of the words. @returns the names of those that fail @throws Error if none could run */
export async function failingTests(copy: string, words: readonly string[]): Promise<string[]> {
  const { code, output } = await runIn(copy, [join(copy, 'test/run.ts'), ...words]);
  if (code === 0 || code === KILLED) return [];
  // The report ends with the failures; a test that has reached its limit is one of them.
  const report = output.split('\n✖ failing tests:\n')[1];
  const names = [...(report ?? '').matchAll(/^✖ (.*) \([\d.]+ms\)$/gm)].map(([, name]) => name!);
  if (names.length === 0) throw new Error(output);
  return names;
}

async function runIn(cwd: string, args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    ...{ cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  });
  // With all that it has started: a test that hangs does not end by itself.
  const end = () => process.kill(-child.pid!, 'SIGTERM');
  const overdue = setTimeout(end, TESTS_END_WITHIN_MS);
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [code] = await once(child, 'close');
  clearTimeout(overdue);
  process.off('exit', end);
  return { code, output };
}
