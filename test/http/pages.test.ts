import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { startService } from './harness.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('paths that people type lead browsers to a page, and other clients to nothing', async (t) => {
  const { port, call } = await startService(t);
  for (const [path, to] of [
    ['/', '/console'],
    ['/console/', '/console'],
    ['/reference/', '/reference'],
  ] as const) {
    const { status, headers } = await call('GET', path, { ...BROWSER, authorization: '' });
    assert.deepEqual([status, headers.location], [302, to]);
    assert.equal((await call('GET', path, { accept: 'application/json' })).status, 404);
  }
  const icon = await fetch(`http://127.0.0.1:${port}/favicon.ico`);
  assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
});

test('without the console, "/" leads to the reference', async (t) => {
  const { call } = await startService(t, { CONSOLE: 'off' });
  assert.equal((await call('GET', '/', BROWSER)).headers.location, '/reference');
});

test('files of pages are compressed as the client accepts, each coding with an ETag of its own', async (t) => {
  const { port } = await startService(t);
  // Not by fetch, which decodes the body.
  const get = async (coding: string, etag = '') => {
    const headers = { 'accept-encoding': coding, 'if-none-match': etag };
    const sent = request({ port, path: '/reference', headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode,
      etag: String(response.headers.etag),
      body: await buffer(response),
    };
  };
  const [plain, gzip, brotli] = await Promise.all([get('identity'), get('gzip'), get('gzip, br')]);
  assert.deepEqual(gunzipSync(gzip.body), plain.body);
  assert.deepEqual(brotliDecompressSync(brotli.body), plain.body);
  assert.equal(new Set([plain, gzip, brotli].map(({ etag }) => etag)).size, 3);
  assert.equal((await get('br', brotli.etag)).status, 304);
});

test('scripts of pages are kept by caches at the path with their digest only', async (t) => {
  const { port } = await startService(t);
  const origin = `http://127.0.0.1:${port}`;
  for (const path of ['/console', '/reference']) {
    const page = await (await fetch(origin + path)).text();
    const [, script] = /<script type="module" src="([^"]+)"/.exec(page)!;
    const kept = await fetch(origin + script);
    assert.equal(kept.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    // A page of another release can ask for the digest that it knows.
    const other = script!.replace(/^(\/\w+\/)[^/]+/, '$1other');
    const current = await fetch(origin + other);
    assert.equal(current.headers.get('cache-control'), 'no-cache');
    assert.equal(await current.text(), await kept.text());
  }
});
