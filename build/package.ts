// npm run build: writes dist/, the program as the npm package has it. It has the layout of the repository, with .js in
// the place of .ts, so that every file finds the others as it does in a clone.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle } from '../console/bundle.ts';
import { packClient } from '../reference/pack-client.ts';
import { COMMIT } from '../src/version.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const tsc = (...args: string[]) =>
  execFileSync('npx', ['tsc', ...args], { cwd: ROOT, stdio: 'inherit' });

rmSync(`${ROOT}dist`, { recursive: true, force: true });
tsc('-p', 'tsconfig.package.json');
for (const folder of ['src', 'console', 'reference']) {
  cpSync(`${ROOT}${folder}`, `${ROOT}dist/${folder}`, {
    recursive: true,
    filter: (path) => !/\.ts$|tsconfig\.json$|console\/(browser|package\.json)$/.test(path),
  });
}
mkdirSync(`${ROOT}dist/console/browser`);
writeFileSync(`${ROOT}dist/console/browser/main.js`, bundle());
writeFileSync(`${ROOT}dist/client.tgz`, await packClient());
// Only a clone makes these two.
for (const path of ['console/bundle.js', 'reference/pack-client.js']) rmSync(`${ROOT}dist/${path}`);
// The reference has its explanations.
for (const name of ['errors.md', 'contract-changelog.md']) {
  cpSync(`${ROOT}docs/${name}`, `${ROOT}dist/docs/${name}`);
}
cpSync(`${ROOT}contract`, `${ROOT}dist/contract`, {
  recursive: true,
  filter: (path) => !path.includes('released'),
});
writeFileSync(`${ROOT}dist/commit`, COMMIT);
writeFileSync(`${ROOT}npm-shrinkwrap.json`, `${JSON.stringify(shrinkwrap(), undefined, 2)}\n`);

/** Packages of a lock file, by their paths. */
type Packages = Readonly<
  Record<string, Readonly<Record<'dependencies' | 'optionalDependencies', Record<string, string>>>>
>;

/**
 * The runtime dependencies, in the versions of package-lock.json, with which the program was tested. npm reads the file under
 * this name only; "postpack" deletes it, since a clone has package-lock.json.
 */
function shrinkwrap() {
  const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
  const { devDependencies: _, workspaces: __, ...root } = lock.packages[''];
  const used = pathsOfDependencies(lock.packages)
    .sort()
    .map((path) => [path, lock.packages[path]]);
  return { ...lock, packages: { '': root, ...Object.fromEntries(used) } };
}

/** Returns the paths of what the root package depends on; workspaces have dependencies of their own. */
function pathsOfDependencies(packages: Packages): string[] {
  const found = new Set(['']);
  for (const from of found) {
    const { dependencies, optionalDependencies } = packages[from]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      let folder = from;
      while (packages[`${folder}/node_modules/${name}`.replace(/^\//, '')] === undefined) {
        if (folder === '') throw new Error(`package-lock.json lacks ${name}`);
        folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0));
      }
      found.add(`${folder}/node_modules/${name}`.replace(/^\//, ''));
    }
  }
  found.delete('');
  return [...found];
}
