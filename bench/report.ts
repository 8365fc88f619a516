import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Row } from './context.ts';

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
  mkdirSync(new URL('performance/', DOCS), { recursive: true });
  const parts = results.map(({ title, rows }, index) => {
    const name = `performance/${index + 1}.svg`;
    writeFileSync(new URL(name, DOCS), chart(title, rows));
    return `## ${title}\n\n${table(rows)}\n\n![${title}](${name})\n`;
  });
  writeFileSync(new URL('performance.md', DOCS), `${heading(versions)}\n${parts.join('\n')}`);
}

function heading(versions: Readonly<Record<string, string | undefined>>): string {
  const { model } = cpus()[0]!;
  const programs = Object.values(versions).filter((version) => version !== undefined);
  return `# Performance

Written by \`npm run bench\`; \`npm run bench -- --quick\` takes a short look and writes nothing. Figures of one
machine mean little on another, and little on the same one an hour later: so ours and its peers are measured in
turn, A B A B, and what counts is the ratio of each round. Each table gives its median, and in brackets the least
and the most of five rounds. The server is bound to one core, the load to another.

${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB,
Linux ${release()}, Node.js ${process.version}, SQLite ${process.versions.sqlite}; ${programs.join('; ')}.
`;
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ what, against, values, figure, least, most, unit, reach }) => {
    const range = least === undefined ? '' : ` (${least.toFixed(2)} to ${most!.toFixed(2)})`;
    const goal =
      reach === undefined ? '' : `${'atLeast' in reach ? '≥' : '≤'} ${goalOf(reach)} ${unit}`;
    const mark = isReached({ figure, reach }) ? '' : ' (missed)';
    return `| ${what} | ${against} | ${values} | **${figure.toFixed(2)} ${unit}**${range} | ${goal}${mark} |`;
  });
  return [
    '| What | Against | Ours / theirs | Figure | To reach |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
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

const WIDTH = 840;
const LEFT = 430;
const LINE = 34;

/** A bar for each figure, with a mark at its target. */
function chart(title: string, rows: readonly Row[]): string {
  const height = 44 + rows.length * LINE;
  const bars = rows.map((row, index) => {
    // Each bar has its own scale, with a mark at its target or, for a ratio without one, at 1.
    const same = row.unit === '×' ? 1 : row.figure;
    const goal = row.reach === undefined ? same : goalOf(row.reach);
    const most = Math.max(row.figure, goal) * 1.25 || 1;
    const x = (value: number) => LEFT + (value / most) * (WIDTH - LEFT - 90);
    const y = 36 + index * LINE;
    const fill = isReached(row) ? '#2f7d5b' : '#b4552d';
    return `<text x="${LEFT - 8}" y="${y + 14}" text-anchor="end">${xml(`${row.what} : ${row.against}`)}</text>
<rect x="${LEFT}" y="${y}" width="${Math.max(0, x(row.figure) - LEFT).toFixed(1)}" height="18" fill="${fill}"/>
<line x1="${x(goal).toFixed(1)}" x2="${x(goal).toFixed(1)}" y1="${y - 3}" y2="${y + 21}" stroke="#222"/>
<text x="${(x(row.figure) + 6).toFixed(1)}" y="${y + 14}">${row.figure.toFixed(2)} ${row.unit}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">
<title>${xml(title)}</title>
<rect width="${WIDTH}" height="${height}" fill="#fff"/>
<text x="10" y="20" font-size="14" font-weight="bold">${xml(title)}</text>
${bars.join('\n')}
</svg>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
