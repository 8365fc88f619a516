import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GoodClient, MOST_TIMES } from './meter.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const FLOOD = fileURLToPath(new URL('flood.ts', import.meta.url));
const CONNECTIONS = 200;
const PER_SECOND = 2_000;
const ROUNDS = 5;
const ROUND_MS = 2_000;

/** Many clients guess keys. Rounds with and without them alternate, since the speed of a machine changes. */
export const wrongKeys: Attack = {
  name: `${PER_SECOND} wrong keys per second on ${CONNECTIONS} connections`,
  mustHold: `the 99th percentile of a good key is at most ${MOST_TIMES} times that without them`,
  make: async ({ folder }) => {
    const { server, secret } = await serveNew(folder, 100);
    const [quiet, flooded]: [number[], number[]] = [[], []];
    const client = new GoodClient(server.port, secret);
    await client.p99(ROUND_MS);
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(await client.p99(ROUND_MS));
      const flood = fork(FLOOD, [String(server.port), String(CONNECTIONS), String(PER_SECOND)]);
      await once(flood, 'message');
      flooded.push(await client.p99(ROUND_MS));
      const ended = once(flood, 'exit');
      flood.kill();
      await ended;
    }
    client.end();
    await server.stop();
    const [before, during] = [median(quiet), median(flooded)];
    const ratio = during / before;
    const figures = `${before.toFixed(1)} ms without, ${during.toFixed(1)} ms with them: ${ratio.toFixed(2)} times`;
    return { figures, isKept: ratio <= MOST_TIMES };
  },
};

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;
}
