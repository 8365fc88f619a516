// npm run build: writes dist/, the program as the npm package has it. Its dependencies are not part of it, so that users see and update
// them like those of any package.
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { ROOT, writeAssets, writeProgram } from './program.ts';

writeAssets(`${ROOT}dist`);
writeProgram(`${ROOT}dist`);
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
      while (packages[posix.join(folder, 'node_modules', name)] === undefined) {
        if (folder === '') throw new Error(`package-lock.json lacks ${name}`);
        folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0));
      }
      found.add(posix.join(folder, 'node_modules', name));
    }
  }
  found.delete('');
  return [...found];
}
