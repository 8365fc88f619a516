import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../random.ts';
import { EIO, ENOSPC } from '../shim/faults.ts';
import type { Fault } from './deployment.ts';
import type { Node } from './node.ts';

export const DAY_S = 86_400;
/** Some time during which something is wrong. */
const SHORT_MS = 700;
const LONG_MS = 2_500;
/** Longer than the pause after which a node renews its lease of webhooks. */
const WRONG_MS = 4_000;
/** Deliveries go on after this time if the node that made them ends in good order. */
const HANDED_OVER_MS = 5_000;
/** A node whose clients go on sending requests stops within this time. */
const STOPS_WITHIN_MS = 5_000;
/** How often a process is stopped for a moment, and how long at most. */
const MOMENTS = 40;
const MOMENT_MS = 50;

/** What happens to the process of a node on any database. */
export function processFaults(nodes: readonly Node[]): Fault[] {
  return [
    {
      name: 'a kill',
      happen: async ({ random }) => {
        random.pick(nodes).kill();
      },
    },
    {
      name: 'a stop and continue',
      happen: async ({ random }) => {
        const node = random.pick(nodes);
        await stopAndContinue(random, [(name) => node.signal(name)]);
      },
    },
    {
      name: 'a SIGTERM',
      deliversWithinMs: HANDED_OVER_MS,
      happen: async ({ random }) => {
        const node = random.pick(nodes);
        const code = await node.ended('SIGTERM', STOPS_WITHIN_MS);
        if (code !== 0) throw new Error(`${node.name} ended with ${code}`);
      },
    },
    wrongClock(nodes, 'a clock that is a day ahead', DAY_S),
    wrongClock(nodes, 'a clock that is a day behind', -DAY_S),
  ];
}

/**
 * Stops processes and continues them: half of the time all of them at once for long, otherwise one after the other often for a moment, in
 * which the others overtake it.
 * @param processes send a signal
 */
export async function stopAndContinue(
  random: Random,
  processes: readonly ((name: NodeJS.Signals) => void)[],
  longMs = LONG_MS,
): Promise<void> {
  if (random.chance(0.5)) {
    for (const signal of processes) signal('SIGSTOP');
    await pause(longMs);
    for (const signal of processes) signal('SIGCONT');
    return;
  }
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const signal = random.pick(processes);
    signal('SIGSTOP');
    await pause(random.below(MOMENT_MS));
    signal('SIGCONT');
    await pause(random.below(MOMENT_MS));
  }
}

function wrongClock(nodes: readonly Node[], name: string, seconds: number): Fault {
  return {
    name,
    happen: async ({ random, beforeWrongClock }) => {
      const node = random.pick(nodes);
      beforeWrongClock();
      node.faults.shiftClock(seconds);
      await pause(WRONG_MS);
      // What it has recorded by its clock is left to the others.
      if (random.chance(0.5)) node.kill();
      node.faults.end();
    },
  };
}

/** What happens to the files of a node. */
export function fileFaults(nodes: readonly Node[]): Fault[] {
  const during = (name: string, begin: (node: Node) => void): Fault => ({
    name,
    happen: async ({ random }) => {
      const node = random.pick(nodes);
      begin(node);
      await pause(random.chance(0.5) ? SHORT_MS : LONG_MS);
      node.faults.end();
    },
  });
  return [
    during('a full disk', ({ faults }) => faults.failWrites(ENOSPC)),
    during('writes that fail (EIO)', ({ faults }) => faults.failWrites(EIO)),
    during('reads that fail (EIO)', ({ faults }) => faults.failReads()),
    during('syncs that fail (EIO)', ({ faults }) => faults.failSyncs(EIO)),
    during('short writes', ({ faults }) => faults.shortenWrites()),
  ];
}
