// node main.ts --url ORIGIN --key KEY --cancel-key KEY -- COMMAND [ARGUMENT…]: plays all scenarios with the client that
// COMMAND is; see README.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { type Perform, play, type Result, scenarios } from './play.ts';

/** Number of scenarios that run concurrently; they mostly wait. */
const CONCURRENCY = 8;
/** Timeout of a call; some wait for retries. */
const CALL_MS = 60_000;

const string = { type: 'string' } as const;
const { values, positionals } = parseArgs({
  options: { url: string, key: string, 'cancel-key': string },
  allowPositionals: true,
});
const { url: origin, key, 'cancel-key': cancelKey } = values;
const [command, ...given] = positionals;
if (!origin || !key || !cancelKey || !command) {
  throw new Error('usage: main.ts --url ORIGIN --key KEY --cancel-key KEY -- COMMAND [ARGUMENT…]');
}

/** Runs the command for one call. */
const perform: Perform = async (call, at) => {
  const env = { ...process.env, STORE_ORDERS_URL: at.url, STORE_ORDERS_KEY: at.key };
  const stdio = ['pipe', 'pipe', 'inherit'] as const;
  const child = spawn(command, given, { env, stdio: [...stdio], timeout: CALL_MS });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(call));
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  try {
    return JSON.parse(output) as Result;
  } catch {
    return { result: 'failed', output };
  }
};

const waiting = [...scenarios()];
let failed = 0;
await Promise.all(
  Array.from({ length: CONCURRENCY }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const problems = await play(next, { origin, key, cancelKey }, perform);
      if (problems.length > 0) failed += 1;
      console.log(`${problems.length === 0 ? 'ok    ' : 'NOT OK'} ${next.name}`);
      for (const problem of problems) console.log(`         ${problem}`);
    }
  }),
);
console.log(`${scenarios().length - failed} of ${scenarios().length} scenarios as expected`);
if (failed > 0) process.exitCode = 1;
