import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary.ts';
import { AS_NOBODY, NEEDS_NAMESPACES, NEEDS_OTHER_USER } from './needs.ts';
import { run } from './program.ts';

test('a database file that is mounted alone is not used, and doctor says so', {
  skip: NEEDS_NAMESPACES,
}, async (t) => {
  const folder = temporaryFolder(t);
  const [file, data] = [join(folder, 'o.db'), join(folder, 'data')];
  assert.equal((await run(['migrate', '--database', `sqlite:${file}`])).code, 0);
  mkdirSync(data);
  const mounted = (args: string) => {
    const script = `touch ${data}/o.db && mount --bind ${file} ${data}/o.db && exec "$@"`;
    const wrapper = ['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, 'sh'];
    return run([...args.split(' '), '--database', `sqlite:${data}/o.db`], { wrapper });
  };
  for (const args of [
    'serve --port 0 --operations-port 0',
    'ship 1',
    'keys create --name x',
    'migrate',
    'check',
    'export',
    `backup ${folder}/b.db`,
  ]) {
    const { code, stderr, stdout } = await mounted(args);
    assert.equal(code, 1, args);
    assert.match(stderr + stdout, /it is mounted alone, without its log/);
  }
  const { stdout } = await mounted('doctor');
  assert.match(stdout, /^files +problem +.*it is mounted alone/m);
});

test('a user who may not enter or write a folder is told so, in one line', {
  skip: NEEDS_OTHER_USER,
}, async (t) => {
  const folder = temporaryFolder(t);
  const closed = join(folder, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  chmodSync(folder, 0o755);
  const store = join(closed, 'o.db');
  assert.equal((await run(['migrate', '--database', `sqlite:${store}`])).code, 0);
  const asNobody = (args: readonly string[], database: string) =>
    run([...args, '--database', `sqlite:${database}`], { wrapper: AS_NOBODY });
  for (const args of [['serve', '--port', '0', '--operations-port', '0'], ['list'], ['check']]) {
    const { code, stderr } = await asNobody(args, store);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /: EACCES: .*; run the command as the owner of the database \(runuser -u store-orders -- …\)\n$/,
    );
  }
  const created = await asNobody(['keys', 'create', '--name', 'x'], join(folder, 'new.db'));
  assert.match(created.stderr, /cannot be created: this user may not write to \/.*\n$/);
  assert.equal((await run(['migrate', '--database', `sqlite:${folder}/open.db`])).code, 0);
  const { stderr } = await run(['backup', `${closed}/b.db`, '--database', `sqlite:${store}`], {
    wrapper: AS_NOBODY,
  });
  assert.doesNotMatch(stderr, /\n +at /);
});

test('a user without write permission is told in one line how to read a store that no service uses', {
  skip: NEEDS_OTHER_USER,
}, async (t) => {
  const folder = temporaryFolder(t);
  const database = join(folder, 'o.db');
  assert.equal((await run(['migrate', '--database', `sqlite:${database}`])).code, 0);
  for (const path of [folder, database]) chmodSync(path, 0o755);
  rmSync(`${database}-ids`, { force: true });
  for (const args of [
    'export',
    'list',
    'show 1',
    'check',
    'keys list',
    'audit',
    'ids',
    'imports',
  ]) {
    const { code, stderr } = await run([...args.split(' '), '--database', `sqlite:${database}`], {
      wrapper: AS_NOBODY,
    });
    assert.equal(code, 1, args);
    assert.match(
      stderr,
      /^.*this user lacks permission; run the command as its owner \(runuser -u store-orders -- …\)\n$/,
    );
  }
});
