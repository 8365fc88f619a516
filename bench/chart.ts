import { type Row, shown } from './context.ts';

const WIDTH = 840;
const LEFT = 300;
const RIGHT = 90;
const BAR = 16;
const GAP = 12;
const TICKS = 5;
const OURS = '#2f7d5b';
const THEIRS = '#9aa5ab';

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly isOurs: boolean;
}

/** Bars on one axis: the rates of rows with the same unit, grouped by what was measured. */
interface Panel {
  readonly unit: string;
  readonly groups: ReadonlyMap<string, readonly Bar[]>;
}

/** Draws the rates of a scenario as an SVG: for each unit a panel, whose bars share one labelled axis. */
export function chart(title: string, rows: readonly Row[]): string {
  const parts: string[] = [];
  let y = 40;
  for (const panel of panelsOf(rows)) {
    const drawn = drawPanel(panel, y);
    parts.push(drawn.svg);
    y = drawn.end + 24;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="sans-serif" font-size="11">
<title>${escaped(title)}</title>
<rect width="${WIDTH}" height="${y}" fill="#fff"/>
<text x="10" y="20" font-size="14" font-weight="bold">${escaped(title)}</text>
${parts.join('\n')}
</svg>
`;
}

function panelsOf(rows: readonly Row[]): Panel[] {
  const byUnit = Map.groupBy(
    rows.filter(({ rates }) => rates !== undefined),
    ({ rateUnit }) => rateUnit!,
  );
  return [...byUnit].map(([unit, alike]) => {
    const groups = Map.groupBy(alike, ({ what }) => what);
    return { unit, groups: new Map([...groups].map(([what, group]) => [what, barsOf(group)])) };
  });
}

/** Returns each side once: ours can have several peers, and peers can be among ours. */
function barsOf(group: readonly Row[]): Bar[] {
  const bars = new Map<string, Bar>();
  for (const { name = 'store-orders', rates } of group) {
    bars.set(name, { name, value: rates![0], isOurs: true });
  }
  for (const { against, rates } of group) {
    if (!bars.has(against)) bars.set(against, { name: against, value: rates![1], isOurs: false });
  }
  return [...bars.values()];
}

function drawPanel({ unit, groups }: Panel, top: number): { svg: string; end: number } {
  const values = [...groups.values()].flat().map(({ value }) => value);
  const step = niceStep(Math.max(...values) / TICKS);
  const most = step * Math.ceil(Math.max(...values) / step);
  const x = (value: number) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT);
  const svg: string[] = [];
  let y = top;
  for (const [what, bars] of groups) {
    svg.push(text(LEFT, y + 12, what, 'font-weight="bold"'));
    y += 18;
    for (const { name, value, isOurs } of bars) {
      const width = Math.max(1, x(value) - LEFT).toFixed(1);
      svg.push(
        text(LEFT - 8, y + 12, name, 'text-anchor="end"'),
        `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR}" fill="${isOurs ? OURS : THEIRS}"/>`,
        text(x(value) + 6, y + 12, shown(value)),
      );
      y += BAR + 4;
    }
    y += GAP;
  }
  const axis = [line(LEFT, y, x(most), y, '#222')];
  for (let tick = 0; tick <= most + step / 2; tick += step) {
    axis.push(line(x(tick), top, x(tick), y + 4, '#ddd'));
    axis.push(text(x(tick), y + 16, shown(tick), 'text-anchor="middle"'));
  }
  axis.push(text((LEFT + x(most)) / 2, y + 32, unit, 'text-anchor="middle"'));
  return { svg: [...axis, ...svg].join('\n'), end: y + 32 };
}

/** Rounds a step up to 1, 2 or 5 times a power of ten. */
function niceStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= step)!;
}

function text(x: number, y: number, content: string, attributes = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escaped(content)}</text>`;
}

function line(x1: number, y1: number, x2: number, y2: number, stroke: string): string {
  const ends = `x1="${x1.toFixed(1)}" y1="${y1}" x2="${x2.toFixed(1)}" y2="${y2}"`;
  return `<line ${ends} stroke="${stroke}"/>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
