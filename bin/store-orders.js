#!/usr/bin/env node
// Plain JavaScript on purpose: it must run on any Node, to say which Node the program needs.
import { isNewEnough, NEEDED } from './needed-node.js';

if (!isNewEnough(process.versions.node)) {
  process.stderr.write(
    `store-orders needs Node.js ${NEEDED} or newer; this is ${process.versions.node}.\n` +
      'Run "npm ci" and then "npx store-orders …": the project brings its own Node.js along.\n',
  );
  process.exitCode = 1;
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
  import('../src/main.ts');
}
