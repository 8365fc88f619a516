import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const SOURCES = new URL('./browser/', import.meta.url);
const LICENCE = new URL('./LICENSE', import.meta.resolve('lean-qr'));

/** Returns a script of the console: its sources with the client library and lit-html, or lean-qr, without what it does not use. */
export function bundle(name: 'main' | 'qr-code'): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(new URL(`${name}.ts`, SOURCES))],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    charset: 'utf8',
    // The licences of lit-html, which has it in its files, and of lean-qr require their notices.
    legalComments: 'eof',
    footer: { js: name === 'main' ? '' : `/* lean-qr\n${readFileSync(LICENCE, 'utf8')}*/` },
    write: false,
  });
  // Nothing that is shown has blanks at the beginning of a line.
  return outputFiles[0]!.text.replaceAll(/\n +/g, '\n');
}
