import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseEnvironmentFile } from '../../src/service/settings/environment-file.ts';
import { temporaryFolder } from '../temporary.ts';

test('a settings file is read as systemd reads it', () => {
  const text = [
    '# a comment, and ; another',
    '; one',
    'DATABASE_URL=sqlite:/srv/shop #2/o.db',
    'PORT = 9000  ',
    `STORE_NAME="Tom's #1 \\"shop\\"" and more`,
    "BASE_URL='a\\b'c",
    'LOG_LEVEL=wa\\\nrn',
    'EMPTY=',
    'HOST=::1\rBACKUP_DIR=/b\r\nCONSOLE=off',
  ].join('\n');
  assert.deepEqual(parseEnvironmentFile(text), {
    DATABASE_URL: 'sqlite:/srv/shop #2/o.db',
    PORT: '9000',
    STORE_NAME: `Tom's #1 "shop"and more`,
    BASE_URL: 'a\\bc',
    LOG_LEVEL: 'warn',
    EMPTY: '',
    HOST: '::1',
    BACKUP_DIR: '/b',
    CONSOLE: 'off',
  });
});

test('what systemd drops, or its versions read differently, is refused by its line, without its text', () => {
  for (const [text, problem] of [
    ['A=1\nDATABASE_URL: sqlite:/srv/o.db', 'line 2 must be NAME=value, or begin with #'],
    ['export PORT=1', 'line 1 must begin with a name of letters, digits and underscores'],
    [
      '\uFEFFPORT=1',
      'line 1 must begin with a name of letters, digits and underscores, without control or invisible characters, such as U+FEFF after 0 characters',
    ],
    ['1A=1', 'line 1 must begin with a name of letters, digits and underscores'],
    ['# a \\\nPORT=1', 'line 1 must not end a comment with a backslash'],
    ['A=1\nB="geheim\nC=2', 'line 2 has a quotation mark without its end'],
    ['A=a\x07b', 'line 1 has a control character'],
  ] as const) {
    assert.throws(() => parseEnvironmentFile(text), new SyntaxError(problem));
  }
});

/** systemd's own parser. Unlike an EnvironmentFile, its files have $NAME replaced and empty values ignored: no text has them here. */
const GENERATOR = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';

test('each file that is accepted has the settings that systemd reads', {
  skip: existsSync(GENERATOR) ? false : 'systemd is not installed',
}, (t) => {
  const home = temporaryFolder(t);
  mkdirSync(join(home, 'environment.d'));
  const asSystemd = (text: string) => {
    writeFileSync(join(home, 'environment.d', '60.conf'), text);
    const { stdout } = spawnSync(GENERATOR, {
      env: { XDG_CONFIG_HOME: home, HOME: home },
      encoding: 'utf8',
    });
    const lines = stdout.split('\n').filter((line) => /^[AB]=/.test(line));
    return Object.fromEntries(lines.map((line) => [line[0], unescaped(line.slice(2))]));
  };
  const part = fc.constantFrom(
    ...[
      'A=',
      'B=',
      'A =',
      '\n',
      '\r',
      ' ',
      '\t',
      '#',
      ';',
      '"',
      "'",
      '\\',
      'x',
      'y',
      '`',
      '=',
      'ü',
    ],
  );
  let compared = 0;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 14 }), (parts) => {
      const text = `A=1\n${parts.join('')}`;
      let settings: Record<string, string>;
      try {
        settings = parseEnvironmentFile(text);
      } catch (error) {
        assert.ok(error instanceof SyntaxError);
        return;
      }
      const { A, B } = settings;
      if (A === '' || B === '') return;
      compared += 1;
      assert.deepEqual(asSystemd(text), {
        ...(A !== undefined && { A }),
        ...(B !== undefined && { B }),
      });
    }),
    { numRuns: 100 },
  );
  assert.ok(compared > 15, String(compared));
});

/** Reads a value as the generator prints it: quoted where it must be, with escapes of C. */
function unescaped(text: string): string {
  if (!text.startsWith('"') && !text.startsWith("$'")) return text;
  const inner = text.replace(/^\$?["']/, '').slice(0, -1);
  return inner.replaceAll(/\\(x[0-9a-f]{2}|.)/g, (_, code: string) =>
    code.length === 3
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : ({ n: '\n', t: '\t', r: '\r' }[code] ?? code),
  );
}
