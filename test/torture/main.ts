// npm run torture -- PART [--seed N] [--minutes N] [--only SCENARIO] [--fault NAME]: tries to break the promises of the service.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { failover } from './failover/failover.ts';
import { histories } from './histories/histories.ts';
import { hostile } from './hostile/hostile.ts';
import { isChosen, type Part } from './part.ts';
import { planted } from './planted.ts';
import { powerCuts } from './power-cuts/power-cuts.ts';

const PARTS: readonly Part[] = [powerCuts, histories, hostile, failover, planted];

/** Exit code of a run that ended early, and shows nothing. */
const BROKEN = 4;
const INTERRUPTED = 130;
const MAX_LISTENERS = 100;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    minutes: { type: 'string' },
    only: { type: 'string' },
    fault: { type: 'string' },
  },
});
const part = PARTS.find(({ name }) => name === positionals[0]);
if (part === undefined) {
  console.error(
    `usage: npm run torture -- ${PARTS.map(({ name }) => name).join('|')} [--seed N] [--minutes N] [--only SCENARIO] [--fault NAME]`,
  );
  process.exit(2);
}
const { only } = flags;
if (!part.scenarios.some((name) => isChosen(name, only))) {
  console.error(`no scenario of ${part.name} is named ${only}: ${part.scenarios.join('; ')}`);
  process.exit(2);
}
const seed = Number(flags.seed);
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'store-orders-torture-')));
// PostgreSQL runs as another user.
chmodSync(folder, 0o755);
// Each node and each server is ended by one.
process.setMaxListeners(MAX_LISTENERS);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(INTERRUPTED));
// The programs under test start hundreds of times.
process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
const startedAt = performance.now();
const options = {
  ...{ folder, seed, only, fault: flags.fault },
  minutes: flags.minutes === undefined ? part.minutes : Number(flags.minutes),
  report: (line: string) => console.log(line),
};
const result = await part.run(options).catch((error) => {
  console.error(error);
  process.exit(BROKEN);
});
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
if (result.outcome === 'failed') for (const finding of result.findings) console.log(`\n${finding}`);
const what = 'figures' in result ? result.figures : result.reason;
console.log(`${part.name} ${result.outcome} in ${seconds} s, seed ${seed}: ${what}`);
process.exit({ passed: 0, skipped: 0, failed: 1, undecided: 3 }[result.outcome]);
