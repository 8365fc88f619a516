import { html, svg } from 'lit-html';
import { count } from '../format.ts';

export const mostOf = (counts: readonly bigint[]): bigint =>
  counts.reduce((most, each) => (each > most ? each : most), 0n);

/** Returns the top of a scale with an integer half: 2, 4, 10, 20, 40, 100 and so on. */
export function scaleOf(most: bigint): bigint {
  for (let unit = 1n; ; unit *= 10n) {
    const top = [2n, 4n, 10n].map((each) => each * unit).find((each) => each >= most);
    if (top !== undefined) return top;
  }
}

/** The labels of a scale, from its top to nothing. */
export const scale = (top: bigint) =>
  html`<div class="scale" aria-hidden="true"><span>${count(top)}</span><span>${count(top / 2n)}</span><span>0</span></div>`;

/** Draws a bar for each count, 10 wide, on a scale of 100; the marked bar has a background of full height. */
export function bars(
  counts: readonly bigint[],
  top: bigint,
  marked?: number,
  mark?: (index: number) => (event: Event) => void,
) {
  return counts.map((each, index) => {
    const height = each === 0n ? 0 : Math.max(Number((each * 1_000n) / top) / 10, 1.5);
    return svg`<g @pointerenter=${mark?.(index)}><rect class=${index === marked ? 'ground marked' : 'ground'} x=${index * 10} y="0" width="10" height="100"></rect>
      <rect class="bar" x=${index * 10 + 2.5} y=${100 - height} width="5" height=${height}></rect></g>`;
  });
}
