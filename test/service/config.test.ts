import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needRestart, readConfig, readDatabaseConfig } from '../../src/service/settings/config.ts';
import { ConfigError, misspelt, readEnvironment } from '../../src/service/settings/reader.ts';
import { OTHER_VARIABLES, SETTING_NAMES } from '../../src/service/settings/table.ts';
import { parseAddress } from '../../src/store/postgres/database/address.ts';
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
  assert.equal(config.database.url, 'sqlite:data/store-orders.db');
  assert.equal(config.environment, 'production');
  assert.equal(config.rootUrl, 'http://127.0.0.1:8080');
  assert.equal(config.rootPath, '');
  assert.ok(Object.isFrozen(config));
});

test('flags override the environment, and an empty value counts as unset', () => {
  assert.equal(readConfig({ PORT: '1' }, { PORT: '2' }).port, 2);
  assert.equal(readConfig({ PORT: '1' }, {}).port, 1);
  assert.equal(readConfig({ PORT: '' }).port, 8080);
  assert.equal(
    readDatabaseConfig({ PORT: 'x', DATABASE_URL: 'sqlite:a' }).database.url,
    'sqlite:a',
  );
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
  ['OPERATIONS_HOST', 'a b'],
  ['DRAIN_SECONDS', '-1'],
  ['DRAIN_SECONDS', '1.5'],
  ['STOP_LIMIT_SECONDS', '3601'],
  ['REUSE_PORT', 'yes'],
  ['BACKUP_KEEP', '1001'],
  ['BACKUP_KEEP', '0'],
  ['BACKUP_EVERY', '366d'],
  ['BACKUP_EVERY', '31536001'],
  ['STORE_NAME', 'é'.repeat(101)],
  ['CORS_ORIGINS', 'https://a.example,b.example'],
  ['BASE_URL', 'https://api.example/v1#a'],
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

test('the last valid values are valid', () => {
  const { port, storeName, backups } = readConfig({
    ...{ PORT: '65535', STORE_NAME: '👩'.repeat(100) },
    ...{ BACKUP_DIR: '/b', BACKUP_KEEP: '1000', BACKUP_EVERY: '365d' },
  });
  assert.deepEqual([port, storeName], [65_535, '👩'.repeat(100)]);
  assert.deepEqual(backups, { folder: '/b', keep: 1_000, everyMs: 31_536_000_000 });
});

test('all invalid settings are reported at once', () => {
  const wrong = INVALID.filter(([variable]) => variable !== 'DATABASE_URL_FILE');
  assert.equal(problemsOf(Object.fromEntries(wrong)).length, new Set(wrong.map(([v]) => v)).size);
});

test('the database URL can be set directly or read from a file, but not both', (t) => {
  const path = join(temporaryFolder(t), 'url');
  writeFileSync(path, 'postgres://u:p@h1:5433,h2/orders?sslmode=verify-full\n');
  const url = 'postgres://u:p@h1:5433,h2/orders?sslmode=verify-full';
  assert.equal(readDatabaseConfig({ DATABASE_URL_FILE: path }).database.url, url);
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
  const names = [...SETTING_NAMES, ...Object.keys(OTHER_VARIABLES)];
  for (const name of names) assert.ok(stdout.includes(name), name);
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

test('another spelling of a value, and settings of backups that are off, need no restart', () => {
  const running = readConfig({ HOST: 'localhost', PET_LOOKUP_SUNSET_AT: '2027-12-31' });
  const next = { HOST: '127.0.0.1', PET_LOOKUP_SUNSET_AT: '2027-12-31T00:00:00Z' };
  assert.deepEqual(needRestart(running, readConfig({ ...next, BACKUP_EVERY: '1h' })), []);
  assert.deepEqual(needRestart(running, readConfig({ ...next, HOST: '127.0.0.2' })), ['HOST']);
  const withBackups = (BACKUP_KEEP: string) => readConfig({ BACKUP_DIR: '/b', BACKUP_KEEP });
  assert.deepEqual(needRestart(withBackups('7'), withBackups('8')), ['BACKUP_KEEP']);
});

test('white space around a setting is ignored, as a line of a Windows file or a copied value has it', (t) => {
  const database = 'sqlite:/data/orders.db';
  for (const space of ['\r', ' ', '\t', '\u00A0', '\uFEFF', '\u2003', '\r\n']) {
    const config = readConfig({
      DATABASE_URL: `${database}${space}`,
      PORT: `${space}9000`,
    });
    assert.equal(config.database.url, database);
    assert.equal(config.port, 9_000);
    const path = join(temporaryFolder(t), 'url');
    writeFileSync(path, `${space}${database}${space}`);
    assert.equal(readConfig({ DATABASE_URL_FILE: `${path}${space}` }).database.url, database);
  }
  assert.equal(readConfig({ PORT: ' \r' }).port, 8_080);
});

test('a settings file may have lines of Windows, and a line that is refused is a problem of the configuration', (t) => {
  const path = join(temporaryFolder(t), 'settings');
  writeFileSync(path, 'DATABASE_URL: sqlite:/data/orders.db');
  const problem = /SETTINGS_FILE: line 1 must be NAME=value, or begin with #$/;
  assert.throws(() => readEnvironment({ SETTINGS_FILE: path }), problem);
  writeFileSync(path, 'DATABASE_URL=sqlite:/data/orders.db\r\nPORT=9000\r\n');
  const settings = readEnvironment({ SETTINGS_FILE: path });
  const { database, port } = readConfig(settings);
  assert.deepEqual([database.url, port], ['sqlite:/data/orders.db', 9_000]);
  assert.deepEqual(Object.keys(settings).sort(), ['DATABASE_URL', 'PORT', 'SETTINGS_FILE']);
});

for (const [what, code] of [
  ['a zero-width space', 0x200b],
  ['a no-break space', 0xa0],
  ['a byte order mark', 0xfeff],
  ['a soft hyphen', 0xad],
  ['an escape', 0x1b],
  ['a Hangul filler', 0x3164],
  ['a Braille blank', 0x2800],
  ['a CR', 13],
] as const) {
  test(`${what} within a setting is refused, and named by its code`, (t) => {
    const character = String.fromCodePoint(code);
    const expected = new RegExp(`U\\+${code.toString(16).toUpperCase().padStart(4, '0')}`);
    const url = `sqlite:/data/or${character}ders.db`;
    for (const [variable, value] of [
      ['DATABASE_URL', url],
      ['HOST', `127.0.${character}0.1`],
      ['BACKUP_DIR', `/back${character}up`],
      ['WEBHOOK_KEY_FILE', `/k${character}ey`],
      ['CORS_ORIGINS', `https://a${character}.example`],
    ] as const) {
      const [problem, ...others] = problemsOf({ [variable]: value });
      assert.match(problem!, new RegExp(`^${variable} must not contain control or invisible`));
      assert.match(problem!, expected);
      assert.ok(!problem!.includes(character));
      assert.deepEqual(others, []);
    }
    const path = join(temporaryFolder(t), 'url');
    writeFileSync(path, `postgres://u:se${character}cret@h/d`);
    const [problem] = problemsOf({ DATABASE_URL_FILE: path });
    assert.match(problem!, expected);
    assert.doesNotMatch(problem!, /cret/);
  });
}

test('a password with "/", "?", "#" or "@" that is not encoded is refused, and shown nowhere', async () => {
  for (const url of [
    'postgres://app:12/34hidden@db.example/orders',
    'postgres://app:12#34hidden@db.example/orders',
    'postgres://app:12?34hidden@db.example/orders',
    'postgres://app:12/34?hidden@db.example/orders',
    'postgres://app:12?sslmode=hidden@db.example/orders',
    'postgres://app:12?password=hidden@db.example/orders',
    'postgres://app:#hidden@db.example/orders',
    'postgres://app:/hidden@db.example/orders',
    'postgres://app:%c3%28hidden@db.example/orders',
    'postgres://db.example/orders#hidden',
  ]) {
    const problems = problemsOf({ DATABASE_URL: url });
    assert.match(problems.join(), /^DATABASE_URL must be postgres:.* percent-encoding/, url);
    assert.doesNotMatch(problems.join(), /hidden|db\.example/);
    const { code, stdout, stderr } = await run(['list', '--database', url]);
    assert.equal(code, 2);
    assert.doesNotMatch(stdout + stderr, /hidden/);
  }
  for (const url of [
    'postgres://app:12%2F34%3F%23%40@db.example/orders',
    'postgres://app%40tenant:x@db.example/orders',
    'postgres://db.example/orders?user=app@tenant&password=a@b',
    'postgres://db.example/orders?password=p/q@r&options=-c%20role%3Da@b',
    // A % that encodes nothing is one.
    'postgres://app:100%off@db.example/100%',
  ]) {
    assert.deepEqual(problemsOf({ DATABASE_URL: url }), []);
  }
});

test('a parameter of a URL that is refused is named, unless it may be a part of a password', () => {
  const [named] = problemsOf({ DATABASE_URL: 'postgres://h/d?connect_timeout=5' });
  assert.match(named!, /no parameters other than .* \(not connect_timeout\)$/);
  const [hidden] = problemsOf({ DATABASE_URL: 'postgres://h/d?Se-cret=5' });
  assert.doesNotMatch(hidden!, /cret/);
});

test('the name of a database may have every character, in percent-encoding', () => {
  const name = 'a#b/c?d&e+f%g h';
  const { hosts } = parseAddress(`postgres://u@h/${encodeURIComponent(name)}`);
  assert.equal(hosts[0]!.config().database, name);
});

test('PGSSLMODE and PGSSLROOTCERT have their usual meaning for URLs that do not set them', (t) => {
  const set = (name: string, value: string) => {
    process.env[name] = value;
    t.after(() => delete process.env[name]);
  };
  set('PGSSLMODE', 'verify-full');
  set('PGSSLROOTCERT', fileURLToPath(new URL('../tls/server.crt', import.meta.url)));
  const [own, other] = ['postgres://h/d', 'postgres://h/d?sslmode=require&sslrootcert='].map(
    (url) => parseAddress(url).hosts[0]!.config().ssl as Record<string, unknown>,
  );
  assert.match(String(own!.ca), /BEGIN CERTIFICATE/);
  assert.equal(own!.rejectUnauthorized, undefined);
  assert.equal(other!.ca, undefined);
  assert.equal(other!.rejectUnauthorized, false);
  set('PGSSLMODE', 'sometimes');
  assert.match(problemsOf({ DATABASE_URL: 'postgres://h/d' })[0]!, /sslmode of .* \(PGSSLMODE/);
});

test('the name of sessions is that of the URL', () => {
  const { hosts } = parseAddress('postgres://h/d?application_name=desk');
  assert.equal(hosts[0]!.config().application_name, 'desk');
});

test('characters with which a script or an emoji is written are not invisible', () => {
  for (const path of [
    'データ\u3000保存',
    '❤\ufe0f',
    '👩\u200d💻',
    'می\u200cخواهم',
    'क\u094d\u200dष',
  ]) {
    assert.deepEqual(problemsOf({ DATABASE_URL: `sqlite:${path}/o.db` }), [], path);
  }
  for (const path of ['a\u200db', '\u200dx', 'a\ufe0f', '\u00a0\u200d', '👩\u200b💻']) {
    assert.equal(problemsOf({ DATABASE_URL: `sqlite:${path}/o.db` }).length, 1, path);
  }
});

test("variables for TLS that have no effect in PostgreSQL's own clients have none here", (t) => {
  const before = { ...process.env };
  t.after(() => {
    for (const name of ['PGSSLMODE', 'PGSSLROOTCERT']) delete process.env[name];
    Object.assign(process.env, before);
  });
  const sslWith = (mode: string, rootCertificate: string, url = 'postgres://h/d') => {
    Object.assign(process.env, { PGSSLMODE: mode, PGSSLROOTCERT: rootCertificate });
    return parseAddress(url).hosts[0]!.config().ssl as unknown;
  };
  const certificate = fileURLToPath(new URL('../tls/server.crt', import.meta.url));
  // Certificates turn no TLS on, and "allow" begins without it.
  assert.equal(sslWith('', certificate), undefined);
  assert.equal(sslWith('allow', certificate), false);
  assert.equal(sslWith('', '/nowhere', 'postgres://h/d?sslmode=disable'), false);
  // A missing file is left out, unless it verifies.
  assert.deepEqual(sslWith('require', '/nowhere'), { rejectUnauthorized: false });
  assert.deepEqual(sslWith('no-verify', certificate), { rejectUnauthorized: false });
  assert.throws(() => sslWith('verify-full', '/nowhere'), /ENOENT/);
  assert.deepEqual(sslWith('verify-full', 'system'), {});
});

test('sqlite:~ without a folder, or without a home, is refused', (t) => {
  for (const url of ['sqlite:~', 'sqlite:~kim/orders.db']) {
    assert.match(problemsOf({ DATABASE_URL: url })[0]!, /must begin with ~\//);
  }
  const home = process.env.HOME;
  t.after(() => {
    process.env.HOME = home;
  });
  process.env.HOME = '';
  assert.match(problemsOf({ DATABASE_URL: 'sqlite:~/orders.db' })[0]!, /no home folder/);
});

test('a URL file that names another database is reported once, and not used', (t) => {
  const path = join(temporaryFolder(t), 'url');
  writeFileSync(path, 'postgres://a:1@db.example/o');
  const { currentDatabaseUrl } = readConfig({ DATABASE_URL_FILE: path });
  const ignored: string[] = [];
  const read = () => currentDatabaseUrl((reason) => ignored.push(reason));
  writeFileSync(path, 'postgres://a:2@db.example/o');
  assert.equal(read(), 'postgres://a:2@db.example/o');
  writeFileSync(path, 'postgres://a:3@other.example/o');
  assert.equal(read(), 'postgres://a:2@db.example/o');
  read();
  rmSync(path);
  read();
  assert.equal(ignored.length, 2);
  assert.match(ignored[0]!, /names another database/);
  assert.match(ignored[1]!, /cannot be read/);
});
