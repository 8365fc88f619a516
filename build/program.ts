// What the npm package and the executable consist of: the program as JavaScript, and the files that it reads.
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundle } from '../console/bundle.ts';
import { SCRIPTS } from '../console/console.ts';
import { THREADS } from '../src/assets.ts';
import { COMMIT } from '../src/version.ts';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The files of the modules that run in threads of their own, by their names in a bundle. */
export const THREAD_FILES = Object.fromEntries(
  Object.entries(THREADS).map(([name, path]) => [name, join('src', path)]),
);

/** The files that the program reads, besides those that are made. */
const READ = [
  ...[
    'contract/*.yaml',
    'src/store/migrations/*',
    'src/http/pages/base.css',
    'console/styles/*',
    'console/relay.js',
  ],
  ...['reference/reference.css', 'reference/browser/*.js', 'reference/guides/*'],
  ...['docs/errors.md', 'docs/contract-changelog.md'],
];

/** For Node.js 24, the oldest that the program needs. */
export const BUNDLED = {
  ...{ bundle: true, format: 'esm', platform: 'node', target: 'node24', logLevel: 'warning' },
  absWorkingDir: ROOT,
  // Only a clone makes the script of the console.
  external: ['./bundle.ts'],
} as const satisfies BuildOptions;

/** Writes the files that the program reads to a folder, under their paths in the repository. */
export function writeAssets(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const pattern of READ) {
    const paths = globSync(pattern, { cwd: ROOT });
    if (paths.length === 0) throw new Error(`there is no ${pattern}`);
    for (const path of paths) cpSync(join(ROOT, path), join(folder, path));
  }
  mkdirSync(join(folder, 'console/browser'), { recursive: true });
  for (const name of SCRIPTS)
    writeFileSync(join(folder, `console/browser/${name}.js`), bundle(name));
  writeFileSync(join(folder, 'commit'), COMMIT);
}

/** Writes the program to src/ in a folder; it imports its dependencies from node_modules. */
export function writeProgram(folder: string): void {
  buildSync({
    ...BUNDLED,
    packages: 'external',
    splitting: true,
    entryPoints: { main: 'src/main.ts', ...THREAD_FILES },
    outdir: join(folder, 'src'),
  });
}
