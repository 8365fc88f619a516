import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ENTRY = fileURLToPath(new URL('./browser/main.ts', import.meta.url));

const LICENCE = new URL('./LICENSE', import.meta.resolve('lean-qr'));

/** Returns the script of the console: its sources, the client library, lit-html and lean-qr, without what the console does not use. */
export function bundle(): string {
  const { outputFiles } = buildSync({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    charset: 'utf8',
    // The licences of lit-html, which has it in its files, and of lean-qr require their notices.
    legalComments: 'eof',
    footer: { js: `/* lean-qr\n${readFileSync(LICENCE, 'utf8')}*/` },
    write: false,
  });
  return outputFiles[0]!.text;
}
