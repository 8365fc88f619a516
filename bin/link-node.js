// Run by npm after an install. The runtime comes as one optional package per platform, all of which
// offer the command "node"; several versions of npm (10, 11.0 to 11.4) then link none of them.
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';

const modules = new URL('../node_modules/', import.meta.url);
const link = new URL('.bin/node', modules);
const system = process.platform === 'win32' ? 'win' : process.platform;
const packages = [`node-${system}-${process.arch}`, `node-bin-${system}-${process.arch}`];
const found = packages.find((name) => existsSync(new URL(name, modules)));

if (found !== undefined && !existsSync(link)) {
  if (system === 'win') {
    const target = `"%~dp0..\\${found}\\bin\\node.exe"`;
    writeFileSync(new URL('.bin/node.cmd', modules), `@${target} %*\r\n`);
  } else {
    symlinkSync(`../${found}/bin/node`, link);
  }
}
