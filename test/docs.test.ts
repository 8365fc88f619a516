import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { documentsWithTables } from '../build/docs.ts';
import { MAX_COUNTS, MAX_PAGES } from '../src/api/reads.ts';
import { MAX_BATCH } from '../src/domain/batch.ts';
import { PLACEMENT_KEPT_MS } from '../src/domain/placement.ts';
import { MAX_PETS, MAX_WEBHOOKS, RESERVED_WEBHOOKS } from '../src/domain/webhook.ts';
import { TEST_WITHIN_MS } from '../src/feed/deliveries/test-delivery.ts';
import { MAX_STREAM_BACKLOG_BYTES } from '../src/feed/streams/change-streams.ts';
import * as http from '../src/http/limits.ts';
import { GIVE_UP_AFTER_MS } from '../src/store/group-commit.ts';
import { MAX_ROWS_READ } from '../src/store/pages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

test('the tables of settings and commands are those of the code ("node build/docs.ts" writes them)', () => {
  for (const [name, text] of Object.entries(documentsWithTables())) {
    const found = readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8');
    assert.equal(found, text, name);
  }
});

test('the limits of the program are those in the table of docs/configuration.md', () => {
  const table = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
  for (const [row, limits, expected] of [
    ['URL | 8 KiB', [http.MAX_URL_BYTES], [8_192]],
    ['headers with the request line | 32 KiB', [http.MAX_HEADER_BYTES], [32_768]],
    ['body | 1 MiB; 64 KiB', [http.MAX_BODY_BYTES, http.MAX_JSON_BYTES], [1_048_576, 65_536]],
    ['problems listed in a 400 | 100', [http.MAX_PROBLEMS], [100]],
    ['connections | 10,000', [http.MAX_CONNECTIONS], [10_000]],
    ['less 96; 32 on the admin listener', [http.MAX_ADMIN_CONNECTIONS], [32]],
    [
      'time for the headers, for the request | 10 s, 30 s',
      ...[
        [http.HEADERS_TIMEOUT_MS, http.REQUEST_TIMEOUT_MS],
        [10_000, 30_000],
      ],
    ],
    ['connection between requests | 72 s', [http.IDLE_TIMEOUT_MS], [72_000]],
    ['last response on a connection | 5 s', [http.LINGER_MS], [5_000]],
    ['that wait for earlier responses | 100', [http.MAX_PIPELINED], [100]],
    [
      'streams of changes on a node | 2,000; 100',
      [http.MAX_STREAMS, http.MAX_STREAMS_PER_KEY],
      [2_000, 100],
    ],
    ['for the client of a stream | 256 KiB', [MAX_STREAM_BACKLOG_BYTES], [262_144]],
    ['webhooks read at the same time | 8; 2 of a key', [MAX_PAGES.max, MAX_PAGES.maxOfOne], [8, 2]],
    ['up to 500 of a key for up to 1 s', [MAX_PAGES.maxWaiting, MAX_PAGES.waitMs], [500, 1_000]],
    ['read at the same time | 4; 1 of a key', [MAX_COUNTS.max, MAX_COUNTS.maxOfOne], [4, 1]],
    ['events counted for getActivity | 50,000', [MAX_ROWS_READ], [50_000]],
    ['pets of a webhook | 1,000; 20; 100', [MAX_WEBHOOKS, MAX_PETS], [1_000, 100]],
    ['of which 100 are for operators', [RESERVED_WEBHOOKS], [100]],
    ['to a test | 15 s; 8 s', [TEST_WITHIN_MS], [8_000]],
    ['Idempotency-Keys | kept for 3 days', [PLACEMENT_KEPT_MS], [3 * 86_400_000]],
    ['of a transaction; waiting for one | 2,000', [MAX_BATCH], [2_000]],
    ['does not respond | 2 s', [http.ANSWER_WITHIN_MS, GIVE_UP_AFTER_MS], [1_800, 1_750]],
  ] as const) {
    assert.ok(table.includes(row), row);
    assert.deepEqual(limits, expected, row);
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
