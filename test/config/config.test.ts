import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig, readDatabaseConfig } from '../../src/config/config.ts';
import { needRestart } from '../../src/config/need-restart.ts';
import { ConfigError } from '../../src/config/settings.ts';
import { misspelt, VARIABLES } from '../../src/config/similar-names.ts';
import { sqlitePath } from '../../src/store/sqlite/database/connection.ts';
import { run } from '../process/program.ts';
import { temporaryFolder } from '../temporary.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems;
  }
}

test('without settings the service listens on 127.0.0.1 and uses SQLite', () => {
  const config = readConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.deepEqual(config.admin, { host: '127.0.0.1', port: 8081 });
  assert.equal(config.databaseUrl, 'sqlite:data/store-orders.db');
  assert.equal(config.environment, 'production');
  assert.equal(config.rootUrl, 'http://127.0.0.1:8080');
  assert.equal(config.rootPath, '');
  assert.ok(Object.isFrozen(config));
});

test('flags override the environment, and an empty value counts as unset', () => {
  assert.equal(readConfig({ PORT: '1' }, { PORT: '2' }).port, 2);
  assert.equal(readConfig({ PORT: '1' }, {}).port, 1);
  assert.equal(readConfig({ PORT: '' }).port, 8080);
  assert.equal(readDatabaseConfig({ PORT: 'x', DATABASE_URL: 'sqlite:a' }).databaseUrl, 'sqlite:a');
});

test('the base path is the path of BASE_URL', () => {
  assert.equal(readConfig({ BASE_URL: 'https://a.example/v1' }).rootPath, '');
  const deep = readConfig({ BASE_URL: 'https://a.example/shop/v1/' });
  assert.equal(deep.rootPath, '/shop');
  assert.equal(deep.rootUrl, 'https://a.example/shop');
});

const INVALID: readonly (readonly [string, string])[] = [
  ['PORT', 'http'],
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '1e3'],
  ['HOST', 'a b'],
  ['DATABASE_URL', 'data.db'],
  ['DATABASE_URL', 'sqlite::memory:'],
  ['DATABASE_URL', 'sqlite:a.db?mode=ro'],
  ['DATABASE_URL', 'sqlite:file:a.db'],
  ['DATABASE_URL', 'mysql://x/y'],
  ['DATABASE_URL', 'postgres://x/y?sslmode=maybe'],
  ['DATABASE_URL', 'postgres://x/y?sslmod=verify-full'],
  ['DATABASE_URL', 'postgres://x/y?sslmode=disable&sslmode=verify-full'],
  ['DATABASE_URL', 'postgres://:port/y'],
  ['DATABASE_URL_FILE', '/no/such/file'],
  ['BASE_URL', 'api.example/v1'],
  ['BASE_URL', 'ftp://api.example/v1'],
  ['BASE_URL', 'https://api.example/'],
  ['BASE_URL', 'https://api.example/v2'],
  ['BASE_URL', 'https://api.example/v1?x=1'],
  ['BASE_URL', 'https://user@api.example/v1'],
  ['BASE_URL', 'https://api.example/:id/v1'],
  ['STAGING_BASE_URL', 'https://api.example'],
  ['ENVIRONMENT', 'test'],
  ['PET_LOOKUP_DEPRECATED_AT', '2026-13-01'],
  ['PET_LOOKUP_SUNSET_AT', 'never'],
  ['OPERATIONS_PORT', 'x'],
  ['OPERATIONS_HOST', ' '],
  ['DRAIN_SECONDS', '-1'],
  ['DRAIN_SECONDS', '1.5'],
  ['STOP_LIMIT_SECONDS', '3601'],
  ['REUSE_PORT', 'yes'],
  ['LOG_LEVEL', 'verbose'],
];
for (const [variable, value] of INVALID) {
  test(`${variable}=${value} is refused with a message that names the variable and what is valid`, () => {
    const problems = problemsOf({ [variable]: value });
    assert.equal(problems.length, 1, problems.join());
    assert.match(problems[0]!, new RegExp(`^${variable} must `));
    if (!value.includes('://')) assert.ok(problems[0]!.endsWith(`, not "${value}"`));
  });
}

test('all invalid settings are reported at once', () => {
  const wrong = INVALID.filter(([variable]) => variable !== 'DATABASE_URL_FILE');
  assert.equal(problemsOf(Object.fromEntries(wrong)).length, new Set(wrong.map(([v]) => v)).size);
});

test('the database URL can be set directly or read from a file, but not both', (t) => {
  const path = join(temporaryFolder(t), 'url');
  writeFileSync(path, 'postgres://u:p@h1:5433,h2/orders?sslmode=verify-full\n');
  const url = 'postgres://u:p@h1:5433,h2/orders?sslmode=verify-full';
  assert.equal(readDatabaseConfig({ DATABASE_URL_FILE: path }).databaseUrl, url);
  assert.match(
    problemsOf({ DATABASE_URL_FILE: path, DATABASE_URL: 'sqlite:a' })[0]!,
    /^set DATABASE_URL or DATABASE_URL_FILE, not both$/,
  );
});

test('the message about an invalid database URL does not contain its password', () => {
  for (const url of [
    'postgres://u:sec/ret@h/d',
    'postgres://u:sec#ret@h:x/d',
    'mysql://u:secret@h/d',
    'postgres:u:secret@h/d',
    'postgres:/u:secret@h/d',
    'u:secret@h/d',
    'host=h password=secret',
    'u:secret',
    'postgres//u:secret/db',
    '127.0.0.1/db?pwd=secret',
    'postgres://h/d?sslmode=x&sslpassword=secret',
    'postgres://u:p?secret@h/d',
  ]) {
    const [problem] = problemsOf({ DATABASE_URL: url });
    assert.match(problem!, /^DATABASE_URL must/);
    assert.doesNotMatch(problem!, /sec|ret@/);
  }
});

test('a message about an invalid flag names the flag, not the variable', () => {
  const flags = { PORT: 'abc', OPERATIONS_PORT: 'x', DATABASE_URL: 'data.db' };
  assert.throws(
    () => readConfig({ LOG_LEVEL: 'loud' }, flags),
    (error) => {
      const names = (error as ConfigError).problems.map((problem) => problem.split(' must be')[0]);
      assert.deepEqual(names.sort(), ['--database', '--operations-port', '--port', 'LOG_LEVEL']);
      return true;
    },
  );
});

test('the default base URL is derived from host and port, and is relative if the port is unknown', () => {
  assert.equal(readConfig({ PORT: '0' }).rootUrl, '');
  assert.equal(readConfig({ HOST: '::' }).rootUrl, 'http://localhost:8080');
  assert.equal(readConfig({ HOST: '::1' }).rootUrl, 'http://[::1]:8080');
});

test('the two listeners must not share host and port', () => {
  assert.equal(problemsOf({ PORT: '9000', OPERATIONS_PORT: '9000' }).length, 1);
  assert.deepEqual(problemsOf({ PORT: '0', OPERATIONS_PORT: '0' }), []);
  assert.deepEqual(problemsOf({ PORT: '9', OPERATIONS_PORT: '9', OPERATIONS_HOST: '::1' }), []);
});

test('the sunset must not be earlier than the deprecation (RFC 9745)', () => {
  const dates = { PET_LOOKUP_DEPRECATED_AT: '2026-06-01', PET_LOOKUP_SUNSET_AT: '2026-05-01' };
  assert.match(problemsOf(dates).join(), /PET_LOOKUP_SUNSET_AT must be no earlier/);
  // A sunset alone implies a deprecation at the same time.
  const { petLookup } = readConfig({ PET_LOOKUP_SUNSET_AT: '2020-01-01' });
  assert.deepEqual(petLookup, { deprecatedAt: Date.UTC(2020, 0), sunsetAt: Date.UTC(2020, 0) });
});

test('the stop limit is at most one hour', () => {
  const { drainMs, stopLimitMs } = readConfig({
    DRAIN_SECONDS: '3600',
    STOP_LIMIT_SECONDS: '3600',
  });
  assert.deepEqual([drainMs, stopLimitMs], [3_600_000, 3_600_000]);
  for (const name of ['DRAIN_SECONDS', 'STOP_LIMIT_SECONDS']) {
    assert.throws(() => readConfig({ [name]: '3601' }), new RegExp(`${name} must be`));
  }
});

test('names that resemble a variable are found, and no others', () => {
  const environment = {
    ...{ DATABSE_URL: 'a', database_url: 'b', LOGLEVEL: 'c', BACKUPDIR: 'd', CONSOL: 'e' },
    ...{ HOST: 'f', HOSTNAME: 'g', HOME: 'h', PORTS: 'i', PATH: 'j', BACKUP_DIR: 'k', USER: 'l' },
  };
  assert.deepEqual(misspelt(environment), [
    ['DATABSE_URL', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['BACKUPDIR', 'BACKUP_DIR'],
    ['CONSOL', 'CONSOLE'],
  ]);
});

test('serve --help names every setting', async () => {
  const { stdout } = await run(['serve', '--help']);
  // SETTINGS_FILE and the file of the URL have a place in the text of their own.
  for (const name of VARIABLES) assert.ok(stdout.includes(name), name);
});

test('sqlite:~/ is the home folder', () => {
  assert.equal(sqlitePath('sqlite:~/orders.db'), join(homedir(), 'orders.db'));
});

test('another database, file or password needs a restart; a password in the same file does not', (t) => {
  const [one, other] = ['postgres://a:1@db.example/o', 'postgres://a:2@db.example/o'];
  const withUrl = (DATABASE_URL: string) => readConfig({ DATABASE_URL });
  assert.deepEqual(needRestart(withUrl(one), withUrl(one)), []);
  assert.deepEqual(needRestart(withUrl(one), withUrl(other)), ['DATABASE_URL']);
  const folder = temporaryFolder(t);
  const withFile = (name: string, url: string) => {
    writeFileSync(join(folder, name), url);
    return readConfig({ DATABASE_URL_FILE: join(folder, name) });
  };
  assert.deepEqual(needRestart(withFile('a', one), withFile('a', other)), []);
  assert.deepEqual(needRestart(withFile('a', one), withFile('b', other)), ['DATABASE_URL_FILE']);
});
