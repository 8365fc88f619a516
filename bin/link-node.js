// Run by npm after an install: node_modules/.bin/node is the Node.js that npm scripts and npx use. The pinned ones
// come as one optional package per platform, each with the command "node"; several versions of npm (10, 11.0 to 11.4)
// link none of them. The first one that starts is used, otherwise the Node.js of the system. The "prepare" script runs
// this file with npm's own Node.js, since "node" may be one that cannot start. cmd.exe does not expand that variable and
// runs the second command of the script, which does nothing in other shells.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNewEnough, NEEDED } from './needed-node.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules/.bin');
const isWindows = process.platform === 'win32';
const system = isWindows ? 'win' : process.platform;
const packages = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`];
/** By preference. Node.js 26 takes less time per request, but needs libatomic, which a minimal Debian lacks. */
const folders = ['pinned-node/26/node_modules', 'node_modules'];
const pinned = folders
  .flatMap((folder) => packages.map((name) => join(root, folder, name)))
  .filter((folder) => existsSync(folder))
  .map((folder) => join(folder, 'bin', isWindows ? 'node.exe' : 'node'));

if (process.argv[2] === 'cmd' && !isWindows) process.exitCode = 1;
else linkFirst();

function linkFirst() {
  let problem = `there is none for ${process.platform} ${process.arch}`;
  for (const path of pinned) {
    const found = startProblem(path);
    if (found === undefined) return link(relative(bin, path));
    problem = found;
  }
  if (isNewEnough(process.versions.node)) return link(process.execPath);
  unlink();
  process.stderr.write(
    `store-orders needs Node.js ${NEEDED} or newer: this is ${process.versions.node}, and the bundled one ` +
      `cannot start (${problem}). Install a newer Node.js and run the command again.\n`,
  );
  process.exitCode = 1;
}

/** Why a Node.js does not start here; undefined if it does. */
function startProblem(path) {
  const { status, stderr, error } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim().split('\n')[0];
}

/** Removes existing links, which may be dangling. */
function unlink() {
  for (const name of ['node', 'node.cmd', 'node.ps1']) rmSync(join(bin, name), { force: true });
}

/** @param {string} target absolute, or relative so that the clone can be moved */
function link(target) {
  unlink();
  if (isWindows) {
    const path = target === process.execPath ? target : `%~dp0${target}`;
    writeFileSync(join(bin, 'node.cmd'), `@"${path}" %*\r\n`);
  } else symlinkSync(target, join(bin, 'node'));
}
