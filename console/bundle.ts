import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ENTRY = fileURLToPath(new URL('./browser/main.ts', import.meta.url));

/** Returns the script of the console: its sources, the client library and lit-html, without what the console does not use. */
export function bundle(): string {
  const { outputFiles } = buildSync({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    charset: 'utf8',
    // The licence of lit-html requires its notice.
    legalComments: 'eof',
    write: false,
  });
  return outputFiles[0]!.text;
}
