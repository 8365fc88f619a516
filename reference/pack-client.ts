import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIMIT_MS = 120_000;

/** Compiles the client library and packs it as npm does, in a folder of its own: a process can pack it beside another. */
export async function packClient(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'store-orders-client-'));
  try {
    for (const name of ['package.json', 'README.md', 'LICENSE']) {
      await cp(join(ROOT, 'client', name), join(folder, name));
    }
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-p', join(ROOT, 'client'), '--outDir', join(folder, 'dist')];
    await run(process.execPath, args, { timeout: LIMIT_MS });
    // npm gives the settings of an "npm pack" that has started this one to it, too: the folder is named.
    const packing = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
    await run('npm', packing, { cwd: folder, timeout: LIMIT_MS });
    const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!;
    return await readFile(join(folder, tarball));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
