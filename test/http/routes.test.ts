import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Route, Routes } from '../../src/http/routes.ts';

const named = (operation: string): Route => ({
  operation,
  isPublic: false,
  headers: [],
  handle: () => {},
});

function routes(): Routes {
  const all = new Routes({
    notFound: () => named('not found'),
    badUrl: named('bad URL'),
    otherMethods: () => () => {},
  });
  all.add('/a/b', {}, { GET: named('whole') });
  all.add('/a/b/', {}, { DELETE: named('parameter') });
  return all;
}

const cases: [string, string, string, string][] = [
  ['GET', '/a/b', 'whole', ''],
  ['HEAD', '/a/b', 'whole', ''],
  ['POST', '/a/b', 'none', ''],
  ['DELETE', '/a/b/1', 'parameter', '1'],
  ['GET', '/a/b/1', 'none', '1'],
  // What percent-encoding hides is found, but it parts no segments and is decoded once.
  ['GET', '/%61/b', 'whole', ''],
  ['DELETE', '/a/b/%31', 'parameter', '1'],
  ['DELETE', '/a/b/%2531', 'parameter', '%31'],
  ['DELETE', '/a/b/1%2F2', 'parameter', '1%2F2'],
  ['GET', '/a%2Fb', 'not found', ''],
  ['DELETE', '/a/b/%', 'bad URL', ''],
  ['DELETE', '/a/b/%ff', 'bad URL', ''],
  // Paths are compared as they stand: RFC 3986, section 6.2.1.
  ['GET', '/A/b', 'not found', ''],
  ['GET', '/a/b/', 'not found', ''],
  ['DELETE', '/a/b/', 'not found', ''],
  ['DELETE', '/a/b/1/2', 'not found', ''],
  ['GET', '//a/b', 'not found', ''],
  ['GET', '/a/./b', 'not found', ''],
  ['GET', '', 'not found', ''],
  ['OPTIONS', '*', 'not found', ''],
];

for (const [method, path, operation, parameter] of cases) {
  test(`${method} ${path} goes to ${operation}`, () => {
    const found = routes().find(method, path);
    assert.deepEqual([found.route.operation, found.parameter], [operation, parameter]);
  });
}
