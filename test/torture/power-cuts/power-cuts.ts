import { join } from 'node:path';
import { isChosen, type Part, type PartOptions } from '../part.ts';
import { buildShim } from '../shim/build.ts';
import { cutsOf } from './cuts.ts';
import { Examiner } from './examiner.ts';
import { newRoot, type Recorded } from './recording.ts';
import type { Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

/** Processes that examine images; each uses one core. */
const EXAMINERS = 2;
/** Fewer images prove too little: the run is undecided. */
const MIN_IMAGES = 5_000;
const MAX_FINDINGS = 5;

/** `npm run torture -- power-cuts`: see docs/reliability.md. */
export const powerCuts: Part = {
  name: 'power-cuts',
  minutes: 10,
  scenarios: SCENARIOS.map(({ name }) => name),
  run: async ({ folder, seed, minutes, only, report }: PartOptions) => {
    const shim = buildShim(folder);
    if ('reason' in shim) return { outcome: 'skipped', reason: shim.reason };
    const until = performance.now() + minutes * 60_000;
    const recorded: [Scenario, Recorded][] = [];
    for (const scenario of SCENARIOS.filter(({ name }) => isChosen(name, only))) {
      const root = newRoot(folder, scenario.name.replaceAll(' ', '-'));
      const found = await scenario.record(root, shim.path);
      report(
        `${scenario.name}: ${found.entries.length - found.from} entries, ${found.claims.length} claims`,
      );
      recorded.push([scenario, found]);
    }
    const cuts = cutsOf(recorded, seed);
    const findings: string[] = [];
    const images = new Map(recorded.map(([{ name }]) => [name, [] as number[]]));
    const examine = async (index: number) => {
      const examiner = new Examiner(join(folder, `examiner-${index}`), shim.path);
      for (const cut of cuts) {
        if (performance.now() > until || findings.length >= MAX_FINDINGS) break;
        const { name } = cut.scenario;
        images.get(name)!.push(cut.point);
        const finding = await examiner.examine(cut);
        if (finding === undefined) continue;
        const kept = join(process.cwd(), 'torture-findings', `${seed}-${findings.length + 1}`);
        examiner.keep(cut, kept);
        findings.push(`${name}, entry ${cut.point}, ${cut.fate}: ${finding}\n  kept in ${kept}`);
      }
      examiner.end();
    };
    await Promise.all(Array.from({ length: EXAMINERS }, (_, index) => examine(index)));
    for (const [name, points] of images) {
      report(`${name}: ${points.length} images at ${new Set(points).size} points`);
    }
    const total = [...images.values()].reduce((sum, points) => sum + points.length, 0);
    const figures = `${total} images in ${recorded.length} scenarios`;
    if (findings.length > 0) return { outcome: 'failed', findings, figures };
    if (only === undefined && total < MIN_IMAGES) {
      return { outcome: 'undecided', reason: `${figures}, fewer than ${MIN_IMAGES}` };
    }
    return { outcome: 'passed', figures };
  },
};
