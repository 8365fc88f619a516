// Run by npm after an install: node_modules/.bin/node is the Node.js that npm scripts and npx use. The pinned one
// comes as one optional package per platform, all of which offer the command "node"; several versions of
// npm (10, 11.0 to 11.4) link none of them. Where it cannot start, the Node.js of the system is used. npm runs
// this with its own Node.js, since "node" may be the one that cannot start; cmd.exe cannot say so, and
// gets a second command, which is of no use to other shells.
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isNewEnough, NEEDED } from './needed-node.js';

const modules = new URL('../node_modules/', import.meta.url);
const isWindows = process.platform === 'win32';
const system = isWindows ? 'win' : process.platform;
const packages = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`];
const found = packages.find((name) => existsSync(new URL(name, modules)));
const pinned = `../${found}/bin/node${isWindows ? '.exe' : ''}`;
const problem =
  found === undefined
    ? `there is no Node.js package for ${process.platform} ${process.arch}`
    : startProblem(fileURLToPath(new URL(`.bin/${pinned}`, modules)));

if (process.argv[2] === 'cmd' && !isWindows) process.exitCode = 1;
else if (problem === undefined) link(pinned);
else if (isNewEnough(process.versions.node)) link(process.execPath);
else {
  unlink();
  process.stderr.write(
    `store-orders needs Node.js ${NEEDED} or newer: this is ${process.versions.node}, and the one that comes along ` +
      `cannot start (${problem}). Install a newer Node.js${missingLibrary(problem)}, and run this again.\n`,
  );
  process.exitCode = 1;
}

/** Why a Node.js does not start here; undefined if it does. */
function startProblem(path) {
  const { status, stderr, error } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim().split('\n')[0];
}

/** Node.js 26 needs a library that a minimal Debian or Ubuntu has not. */
function missingLibrary(reason) {
  return reason.includes('libatomic') ? ' or libatomic ("apt-get install libatomic1")' : '';
}

/** Takes away what is there, which may lead nowhere. */
function unlink() {
  for (const name of ['node', 'node.cmd', 'node.ps1'])
    rmSync(new URL(`.bin/${name}`, modules), { force: true });
}

function link(target) {
  unlink();
  if (isWindows) {
    const path = target === pinned ? `%~dp0${target.replaceAll('/', '\\')}` : target;
    writeFileSync(new URL('.bin/node.cmd', modules), `@"${path}" %*\r\n`);
  } else symlinkSync(target, new URL('.bin/node', modules));
}
