import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isChosen, type Part, type PartOptions } from './part.ts';
import { applyPatch, hunted, plantedFaults } from './planted/patches.ts';
import { checkTypes, failingTests, plantSmallFault, SMALL_FAULTS } from './planted/small-faults.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NOT_COPIED = ['.git', 'node_modules', 'dist', 'torture-findings'];
/** How much of a finding is printed. */
const FINDING_CHARACTERS = 300;
/** Faults that are looked for at the same time: a run waits more than it computes. */
const AT_ONCE = 2;

/** A fault, and how it is looked for. */
interface Planted {
  readonly name: string;
  readonly words: string;
  readonly plant: (copy: string) => void;
  /** @returns what has found it, and its words; undefined if nothing has */
  readonly find: (
    copy: string,
  ) => Promise<{ readonly by: string; readonly finding: string } | undefined>;
}

function byPatches(seed: number): Planted[] {
  return plantedFaults().map(({ name, patch, words, hunt }) => ({
    ...{ name, words, plant: (copy) => applyPatch(copy, patch) },
    find: async (copy) => {
      if (hunt === undefined) throw new Error(`${name} is not in the table of hunts`);
      const finding = await hunted(copy, hunt, seed);
      return finding === undefined ? undefined : { by: `${hunt[0]} (${hunt[1]})`, finding };
    },
  }));
}

/** @param folder for a copy without a fault, whose tests must pass */
function bySmallFaults(folder: string): Planted[] {
  const sound = join(folder, 'sound');
  /** By the words that choose the tests. */
  const checked = new Map<string, Promise<void>>();
  const check = async (tests: readonly string[]) => {
    if (checked.size === 0) copyProject(sound);
    const checking = checked.get(tests.join(' ')) ?? assertSound(sound, tests);
    checked.set(tests.join(' '), checking);
    await checking;
  };
  return SMALL_FAULTS.map((fault) => ({
    ...{ name: `${fault.area}/${fault.name}`, words: fault.breaks },
    plant: (copy) => plantSmallFault(copy, fault),
    find: async (copy) => {
      const failing = await failingTests(copy, fault.tests);
      if (failing.length === 0) return undefined;
      // They fail because of what the fault does.
      try {
        await checkTypes(copy);
        await check(fault.tests);
      } catch (error) {
        console.error(`${fault.name} shows nothing: ${(error as Error).message}`);
        return undefined;
      }
      return { by: `npm test -- ${fault.tests.join(' ')}`, finding: failing.join('\n  ') };
    },
  }));
}

/** @throws Error if tests fail without a fault, too */
async function assertSound(copy: string, tests: readonly string[]): Promise<void> {
  const failing = await failingTests(copy, tests);
  if (failing.length > 0) throw new Error(`without a fault, too, these fail: ${failing.join()}`);
}

/** `npm run torture -- planted`: plants each fault in a copy of the project, and has the other parts find it, or the tests. */
export const planted: Part = {
  name: 'planted',
  minutes: 60,
  scenarios: [
    ...plantedFaults().map(({ name }) => name),
    ...SMALL_FAULTS.map(({ area, name }) => `${area}/${name}`),
  ],
  run: async ({ folder, seed, minutes, only, report }: PartOptions) => {
    const until = performance.now() + minutes * 60_000;
    const findings: string[] = [];
    const chosen = [...byPatches(seed), ...bySmallFaults(folder)].filter(({ name }) =>
      isChosen(name, only),
    );
    const left = [...chosen];
    let found = 0;
    const lookForSome = async () => {
      while (left.length > 0 && performance.now() < until) {
        const { name, words, plant, find } = left.shift()!;
        const copy = join(folder, name.replaceAll('/', '-'));
        copyProject(copy);
        plant(copy);
        const began = performance.now();
        const seen = await find(copy);
        rmSync(copy, { recursive: true, force: true });
        const seconds = ((performance.now() - began) / 1_000).toFixed(0);
        if (seen === undefined) findings.push(`${name} was not found: ${words}`);
        else found += 1;
        const [outcome, finding] =
          seen === undefined ? ['not found', ''] : [`found by ${seen.by}`, `\n  ${seen.finding}`];
        report(
          `${name}: ${outcome} after ${seconds} s\n  ${words}${finding.slice(0, FINDING_CHARACTERS)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lookForSome));
    const figures = `${found} of ${chosen.length} planted faults found`;
    if (findings.length > 0) return { outcome: 'failed', findings, figures };
    return found < chosen.length
      ? { outcome: 'undecided', reason: figures }
      : { outcome: 'passed', figures };
  },
};

/** Copies the project without what was built. */
function copyProject(to: string): void {
  cpSync(ROOT, to, {
    recursive: true,
    filter: (path) => !NOT_COPIED.includes(basename(path)),
  });
  symlinkSync(join(ROOT, 'node_modules'), join(to, 'node_modules'));
}
