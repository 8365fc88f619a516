#!/usr/bin/env node
// Plain JavaScript, so that it runs on any Node.js and can report which version the program needs.
import './signals.js';
import { existsSync } from 'node:fs';
import { isNewEnough, NEEDED } from './needed-node.js';

/** The npm package has the program compiled, in dist/. */
const isClone = existsSync(new URL('../src/main.ts', import.meta.url));

if (!isNewEnough(process.versions.node)) {
  process.stderr.write(
    `store-orders needs Node.js ${NEEDED} or newer; this is ${process.versions.node}.\n` +
      (isClone
        ? 'Run "npm ci", which installs a suitable Node.js, and then "npx store-orders …".\n'
        : 'Install it from https://nodejs.org/.\n'),
  );
  // The exit code of an invalid configuration: a supervisor need not restart the process.
  process.exitCode = 2;
} else {
  startProgram();
}

/** Caches compiled code: later starts take a third less. Not in a shared folder, where other users could plant code. */
async function startProgram() {
  const { enableCompileCache } = await import('node:module');
  const { fileURLToPath } = await import('node:url');
  const { directory } = enableCompileCache(
    fileURLToPath(new URL('../node_modules/.cache/store-orders', import.meta.url)),
  );
  // Threads do not inherit the cache otherwise, and would compile their modules at every start.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
  import(isClone ? '../src/main.ts' : '../dist/src/main.js');
}
