import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documentsWithTables } from '../build/docs.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('the tables of settings and commands are those of the code ("node build/docs.ts" writes them)', () => {
  for (const [name, text] of Object.entries(documentsWithTables())) {
    const found = readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');
    assert.equal(found, text, name);
  }
});

test('every link between documents leads to a file, and to a heading in it', () => {
  const documents = globSync(['*.md', 'docs/**/*.md', 'client/*.md', 'client/conformance/*.md'], {
    cwd: ROOT,
  });
  const broken = documents.flatMap((document) => {
    const links = readFileSync(join(ROOT, document), 'utf8').matchAll(/\]\(([^)\s:]+)\)/g);
    return [...links]
      .filter(([, link]) => !leadsSomewhere(document, link!))
      .map(([, link]) => `${document}: ${link}`);
  });
  assert.deepEqual(broken, []);
});

function leadsSomewhere(document: string, link: string): boolean {
  const [path, anchor] = link.split('#');
  const file = path === '' ? join(ROOT, document) : join(ROOT, dirname(document), path!);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsIn(readFileSync(file, 'utf8')).includes(anchor);
}

/** Returns the anchors of the headings in a document, as code hosts make them. */
function anchorsIn(text: string): string[] {
  const headings = text.matchAll(/^#{1,6} (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}
