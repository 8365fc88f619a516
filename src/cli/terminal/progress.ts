import { grouped, terminal } from './terminal.ts';

const BAR_WIDTH = 24;
/** Of "Importing" and "Verifying", so that the bars of all steps begin in the same column. */
const LABEL_LENGTH = 9;
/** Minimum time between two redraws. */
const INTERVAL_MS = 100;

/** Shows a progress bar with rate and time left on stderr, until it is disposed; nothing if stderr is not a terminal. */
export function showProgress(first: string) {
  const { stderr } = terminal();
  let label = first;
  let startedAt = performance.now();
  let drawnAt = 0;
  const draw = (line: string) => {
    if (stderr.isTTY) stderr.write(`\r\x1b[K${line}`);
  };
  return {
    /** @param fraction share of the work done, 0 to 1 @param count number of rows done @param step what is done; another one begins anew */
    update: (fraction: number, count: number, step = label) => {
      const now = performance.now();
      if (step !== label) [label, startedAt, drawnAt] = [step, now, 0];
      if (now - drawnAt < INTERVAL_MS) return;
      drawnAt = now;
      draw(progressLine(label, fraction, count, now - startedAt));
    },
    [Symbol.dispose]: () => draw(''),
  };
}

/** Importing  [############            ]  50%  500,000 rows  210,000/s  3 s left */
function progressLine(label: string, fraction: number, count: number, elapsedMs: number): string {
  const filled = Math.min(BAR_WIDTH, Math.floor(fraction * BAR_WIDTH));
  const bar = '#'.repeat(filled).padEnd(BAR_WIDTH);
  const percent = `${Math.min(100, Math.floor(fraction * 100))}%`.padStart(4);
  const rate = grouped(Math.round((count / Math.max(elapsedMs, 1)) * 1000));
  const left = fraction > 0 ? Math.ceil(((elapsedMs / fraction) * (1 - fraction)) / 1000) : 0;
  return `${label.padEnd(LABEL_LENGTH)}  [${bar}] ${percent}  ${grouped(count)} rows  ${rate}/s  ${left} s left`;
}
