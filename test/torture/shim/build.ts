import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('shim.c', import.meta.url));

/**
 * Compiles the library that records or disturbs what a program does with its files.
 * @returns its path; or the reason why there is none
 */
export function buildShim(folder: string): { readonly path: string } | { readonly reason: string } {
  if (process.platform !== 'linux') return { reason: 'it needs Linux' };
  const path = join(folder, 'shim.so');
  const flags = ['-O2', '-shared', '-fPIC', '-o', path, SOURCE, '-ldl', '-pthread'];
  const { status, error, stderr } = spawnSync('cc', flags, { encoding: 'utf8' });
  if (error !== undefined) return { reason: 'it needs a C compiler: Debian has it as gcc' };
  return status === 0 ? { path } : { reason: `the shim does not compile:\n${stderr}` };
}
