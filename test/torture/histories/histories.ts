import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isChosen, type Part, type PartOptions } from '../part.ts';
import { Random } from '../random.ts';
import { buildShim } from '../shim/build.ts';
import type { Deployment } from './deployment.ts';
import { onPostgres } from './postgres.ts';
import { onSqlite } from './sqlite.ts';
import { Trial } from './trial.ts';

export interface Setting {
  readonly folder: string;
  readonly shim: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Kind {
  readonly name: string;
  /** Its part of the time of a run, beside those of the others. */
  readonly share: number;
  readonly deploy: (setting: Setting) => Promise<Deployment>;
}

const KINDS: readonly Kind[] = [
  { name: 'sqlite-1', share: 1, deploy: (setting) => onSqlite(1, setting) },
  { name: 'sqlite-3', share: 1, deploy: (setting) => onSqlite(3, setting) },
  // It has more kinds of faults, which take longer.
  { name: 'postgresql', share: 2, deploy: onPostgres },
];

/** `npm run torture -- histories`: see docs/reliability.md. */
export const histories: Part = {
  name: 'histories',
  minutes: 14,
  scenarios: KINDS.map(({ name }) => name),
  run: async ({ folder, seed, minutes, only, fault, report }: PartOptions) => {
    const shim = buildShim(folder);
    if ('reason' in shim) return { outcome: 'skipped', reason: shim.reason };
    const chosen = KINDS.filter(({ name }) => isChosen(name, only));
    const shares = chosen.reduce((sum, { share }) => sum + share, 0);
    const findings: string[] = [];
    const undecided: string[] = [];
    let total = 0;
    for (const [index, { name, share, deploy }] of chosen.entries()) {
      const own = join(folder, name);
      mkdirSync(own);
      writeFileSync(join(own, 'webhook.key'), randomBytes(32).toString('base64'), { mode: 0o600 });
      const env = {
        WEBHOOK_KEY_FILE: join(own, 'webhook.key'),
        WEBHOOK_ALLOW: '127.0.0.1,198.18.0.0/15,http',
      };
      const deployment = await deploy({ folder: own, shim: shim.path, env });
      const trial = new Trial(deployment, new Random(seed + index), { fault, report });
      const forMs = (minutes * 60_000 * share) / shares;
      const found = await trial.run(forMs).finally(deployment.end);
      total += found.operations;
      report(`${deployment.name}: ${found.summary}`);
      for (const reason of deployment.skipped) report(`${deployment.name}: left out: ${reason}`);
      if (found.findings.length > 0) {
        const kept = join(process.cwd(), 'torture-findings', `${seed}-${name}`);
        rmSync(kept, { recursive: true, force: true });
        cpSync(own, kept, { recursive: true });
        writeFileSync(join(kept, 'findings.txt'), found.findings.join('\n'));
        findings.push(
          ...found.findings.map((each) => `${deployment.name}: ${each}`),
          `  files and logs: ${kept}`,
        );
      } else if (found.undecided !== undefined)
        undecided.push(`${deployment.name}: ${found.undecided}`);
    }
    const figures = `${total} operations`;
    if (findings.length > 0) return { outcome: 'failed', findings, figures };
    if (undecided.length > 0) return { outcome: 'undecided', reason: undecided.join('; ') };
    return { outcome: 'passed', figures };
  },
};
