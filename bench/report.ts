import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { chart } from './chart.ts';
import { type Row, shown } from './context.ts';

const DOCS = new URL('../docs/', import.meta.url);

interface Result {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Writes docs/performance.md and a chart for each scenario. */
export function report(
  results: readonly Result[],
  versions: Readonly<Record<string, string | undefined>>,
): void {
  rmSync(new URL('performance/', DOCS), { recursive: true, force: true });
  mkdirSync(new URL('performance/', DOCS));
  const parts = results.map(({ title, rows }, index) => {
    const name = `performance/${index + 1}.svg`;
    writeFileSync(new URL(name, DOCS), chart(title, rows));
    return `## ${title}\n\n${table(rows)}\n\n![${title}](${name})\n`;
  });
  const byBuild = readFileSync(new URL('by-build.md', import.meta.url), 'utf8');
  const page = [heading(versions), byBuild, ...parts].join('\n');
  writeFileSync(new URL('performance.md', DOCS), page);
}

function heading(versions: Readonly<Record<string, string | undefined>>): string {
  const { model } = cpus()[0]!;
  const programs = Object.values(versions).filter((version) => version !== undefined);
  return `# Performance

Written by \`npm run bench\`; \`npm run bench -- --quick\` measures briefly and writes nothing. Absolute figures depend on the
machine and on the hour, so the service and its peers are measured in turn (A B A B), and the ratio of each round counts. The
tables show the median ratio of three rounds, with the smallest and largest in brackets. The server runs on one core, the load
on another.

${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB,
Linux ${release()}, Node.js ${process.version}, SQLite ${process.versions.sqlite}; ${programs.join('; ')}.
`;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { what, name, against, figure, least, most, unit, reach } = row;
    const range = least === undefined ? '' : ` (${least.toFixed(2)} to ${most!.toFixed(2)})`;
    const goal =
      reach === undefined ? '' : `${'atLeast' in reach ? '≥' : '≤'} ${goalOf(reach)} ${unit}`;
    const mark = isReached({ figure, reach }) ? '' : ' (missed)';
    return `| ${name === undefined ? what : `${what}, ${name}`} | ${against} | ${valuesOf(row)} | **${figure.toFixed(2)} ${unit}**${range} | ${goal}${mark} |`;
  });
  return [
    '| What | Against | Ours / theirs | Figure | To reach |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

/** Both rates with their unit. */
export function valuesOf({ rates, rateUnit }: Row): string {
  return rates === undefined ? rateUnit : `${rates.map(shown).join(' / ')} ${rateUnit}`;
}

function goalOf(reach: NonNullable<Row['reach']>): number {
  return 'atLeast' in reach ? reach.atLeast : reach.atMost;
}

function isReached({
  figure,
  reach,
}: {
  figure: number;
  reach?: Row['reach'] | undefined;
}): boolean {
  if (reach === undefined) return true;
  return 'atLeast' in reach ? figure >= reach.atLeast : figure <= reach.atMost;
}
