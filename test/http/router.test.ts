import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Router } from '../../src/http/request/router.ts';

const route = (operation: string) => ({
  ...{ operation, version: 'v1', isPublic: false },
  handle: () => {},
});

function routes(): Router {
  const router = new Router(['/a']);
  router.add('GET', '/a/b', route('whole'));
  router.add('DELETE', '/a/b/{id}', route('parameter'));
  router.add('GET', '/a/b/{id}/c/{other}', route('two'));
  return router;
}

const cases: [string, string, string, string][] = [
  ['GET', '/a/b', 'whole', ''],
  ['HEAD', '/a/b', 'whole', ''],
  ['POST', '/a/b', 'none', ''],
  ['DELETE', '/a/b/1', 'parameter', '1'],
  ['GET', '/a/b/1', 'none', '1'],
  // Percent-encoding is decoded once, after the path is split into segments.
  ['GET', '/%61/b', 'whole', ''],
  ['DELETE', '/a/b/%31', 'parameter', '1'],
  ['DELETE', '/a/b/%2531', 'parameter', '%31'],
  ['DELETE', '/a/b/1%2F2', 'parameter', '1/2'],
  ['GET', '/a/b/1/c/x%20y', 'two', '1,x y'],
  ['DELETE', `/a/b/${'9'.repeat(500)}`, 'parameter', '9'.repeat(500)],
  ['GET', '/a%2Fb', 'none', ''],
  ['DELETE', '/a/b/%', 'none', ''],
  ['DELETE', '/a/b/%ff', 'none', ''],
  // Paths are not normalized (RFC 3986, section 6.2.1).
  ['GET', '/A/b', 'none', ''],
  ['GET', '/a/b/', 'none', ''],
  ['DELETE', '/a/b/', 'none', ''],
  ['DELETE', '/a/b/1/2', 'none', ''],
  ['GET', '//a/b', 'none', ''],
  ['GET', '/a/./b', 'none', ''],
  ['GET', '', 'none', ''],
  ['OPTIONS', '*', 'none', ''],
];

for (const [method, path, operation, parameter] of cases) {
  test(`${method} ${path.slice(0, 40)} is routed to ${operation}`, () => {
    const found = routes().find(method, path);
    const parameters = Object.values(found.parameters).join();
    assert.deepEqual([found.route.operation, parameters], [operation, parameter]);
  });
}
