#!/usr/bin/env node
// Plain JavaScript on purpose: it must run on any Node, to say which Node the program needs.
import { existsSync } from 'node:fs';
import { isNewEnough, NEEDED } from './needed-node.js';

// Node.js would open a debugger for every process of this machine.
process.on('SIGUSR1', () => {});
// A service rereads its settings, as soon as it has read them; one in a terminal ends with the terminal.
if (process.argv[2] === 'serve' && !process.stdout.isTTY) process.on('SIGHUP', () => {});

/** The npm package has the program compiled, in dist/. */
const isClone = existsSync(new URL('../src/main.ts', import.meta.url));

if (!isNewEnough(process.versions.node)) {
  process.stderr.write(
    `store-orders needs Node.js ${NEEDED} or newer; this is ${process.versions.node}.\n` +
      (isClone
        ? 'Run "npm ci" and then "npx store-orders …": the project brings its own Node.js along.\n'
        : 'Install it from https://nodejs.org/.\n'),
  );
  // As for a configuration that cannot work: a supervisor need not try again.
  process.exitCode = 2;
} else {
  startProgram();
}

/** Compiled once: later starts take a third less. Not where others could put code of theirs. */
async function startProgram() {
  const { enableCompileCache } = await import('node:module');
  const { fileURLToPath } = await import('node:url');
  enableCompileCache(
    fileURLToPath(new URL('../node_modules/.cache/store-orders', import.meta.url)),
  );
  import(isClone ? '../src/main.ts' : '../dist/src/main.js');
}
