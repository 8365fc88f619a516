import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isChosen, type Part, type PartOptions } from '../part.ts';
import { Random } from '../random.ts';
import { ATTACKS } from './attacks.ts';

/** `npm run torture -- hostile`: see docs/security.md. */
export const hostile: Part = {
  name: 'hostile',
  minutes: 5,
  scenarios: ATTACKS.map(({ name }) => name),
  run: async ({ folder, seed, only, report }: PartOptions) => {
    const findings: string[] = [];
    const chosen = ATTACKS.filter(({ name }) => isChosen(name, only));
    for (const [index, { name, mustHold, make }] of chosen.entries()) {
      const own = join(folder, String(index));
      mkdirSync(own);
      const { figures, isKept } = await make({ folder: own, random: new Random(seed + index) });
      report(`${name}\n  must hold: ${mustHold}\n  measured:  ${figures}`);
      if (!isKept) findings.push(`${name}: ${figures}`);
    }
    const figures = `${chosen.length} attacks`;
    return findings.length > 0
      ? { outcome: 'failed', findings, figures }
      : { outcome: 'passed', figures };
  },
};
