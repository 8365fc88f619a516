// npm run build: writes dist/, the program as the npm package has it. It has the layout of the repository, with .js in
// the place of .ts, so that every file finds the others as it does in a clone.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { COMMIT } from '../src/version.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const tsc = (...args: string[]) =>
  execFileSync('npx', ['tsc', ...args], { cwd: ROOT, stdio: 'inherit' });

rmSync(`${ROOT}dist`, { recursive: true, force: true });
tsc('-p', 'tsconfig.package.json');
// The scripts of the console, and the client library, which they use.
tsc(
  ...['-p', 'console/browser', '--noEmit', 'false', '--rewriteRelativeImportExtensions'],
  ...['--rootDir', '.', '--outDir', 'dist'],
);
for (const folder of ['src', 'console', 'reference']) {
  cpSync(`${ROOT}${folder}`, `${ROOT}dist/${folder}`, {
    recursive: true,
    filter: (path) => !path.endsWith('.ts') && !path.endsWith('tsconfig.json'),
  });
}
// The reference has its explanations.
cpSync(`${ROOT}docs/errors.md`, `${ROOT}dist/docs/errors.md`);
cpSync(`${ROOT}contract`, `${ROOT}dist/contract`, {
  recursive: true,
  filter: (path) => !path.includes('released'),
});
writeFileSync(`${ROOT}dist/commit`, COMMIT);
writeFileSync(`${ROOT}npm-shrinkwrap.json`, `${JSON.stringify(shrinkwrap(), undefined, 2)}\n`);

/**
 * The runtime dependencies, in the versions of package-lock.json, with which the program was tested. npm reads the file under
 * this name only; "postpack" deletes it, since a clone has package-lock.json.
 */
function shrinkwrap() {
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
  const { devDependencies: _, workspaces: __, ...root } = lock.packages[''];
  const used = Object.entries<{ dev?: boolean; link?: boolean }>(lock.packages).filter(
    ([path, { dev, link }]) =>
      path.startsWith('node_modules/') && !dev && !link && !/^node_modules\/node-/.test(path),
  );
  return { ...lock, packages: { '': root, ...Object.fromEntries(used) } };
}
