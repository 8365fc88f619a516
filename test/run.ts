// npm test [-- WORD…]: runs the test files whose path has one of the words; without words, those that take a minute and a half in all.
// npm run test:all also runs the others, npm run test:slow those that take minutes each. Flags of node --test are passed on.
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Folders that are left out of the default run. Those of the browser are run by themselves, since each starts one. */
const OTHERS = [
  'store',
  'feed',
  'client',
  'listing',
  'service',
  'telemetry',
  'http',
  'cli',
  'volume',
  'process',
  'browser',
];
/** Tests that need programs of the system, or write pictures: they are run by a word only. */
const ON_DEMAND = [
  'test/proxies/http2.ts',
  'test/proxies/rolling-restart.ts',
  'test/container/container.ts',
  'test/alerts.ts',
  'test/screenshots.ts',
];
const FILES_AT_ONCE = 6;
/** Slow tests start several processes each, and those of pages a browser. */
const SLOW_FILES_AT_ONCE = 3;
const LIMIT_MS = 300_000;

const tests = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
const slow = globSync('test/slow/*.ts', { cwd: ROOT }).sort();
const isIn = (folder: string) => (path: string) => path.startsWith(`test/${folder}/`);
const isOther = (path: string) => OTHERS.some((folder) => isIn(folder)(path));

const args = process.argv.slice(2);
const flags = args.filter((arg) => arg.startsWith('--'));
const words = args.filter((arg) => !arg.startsWith('--'));
const isChosen = (path: string) => words.some((word) => path.includes(word));

if (words.length > 0) run([...tests, ...slow, ...ON_DEMAND].filter(isChosen));
else if (flags.includes('--others')) {
  run(tests.filter((path) => !isIn('browser')(path) && isOther(path)));
  run(tests.filter(isIn('browser')), SLOW_FILES_AT_ONCE);
} else if (flags.includes('--slow')) run(slow, SLOW_FILES_AT_ONCE);
else run(tests.filter((path) => !isOther(path)));

/** Runs test files; ends the process if one fails. */
function run(files: readonly string[], atOnce = FILES_AT_ONCE): void {
  if (files.length === 0) {
    console.error(`no test file has ${words.join(' or ')} in its path`);
    process.exit(1);
  }
  const own = ['--test', `--test-concurrency=${atOnce}`, `--test-timeout=${LIMIT_MS}`];
  const setup = '--test-global-setup=test/global-setup.ts';
  const passed = flags.filter((flag) => !['--others', '--slow'].includes(flag));
  const { status } = spawnSync(process.execPath, [...own, setup, ...passed, ...files], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
}
