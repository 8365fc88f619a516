import type { Activity } from '@store-orders/client';
import { html, nothing, svg } from 'lit-html';
import { count, longDay } from '../format.ts';
import { eventWords } from '../icons.ts';
import { TYPES } from '../list/address.ts';
import { dayText, today } from '../list/range.ts';
import { sumOf } from './activity.ts';

/**
 * Draws a bar for each count, on a scale of its own. The marked bar has a background of full height.
 * @param label what the picture shows, with the largest count
 */
export function barChart(
  counts: readonly bigint[],
  label: (most: string) => string,
  marked?: number,
  mark?: (index: number) => (event: Event) => void,
) {
  const most = counts.reduce((top, each) => (each > top ? each : top), 0n);
  const top = scaleOf(most);
  const bars = counts.map((each, index) => {
    const height = each === 0n ? 0 : Math.max(Number((each * 1_000n) / top) / 10, 1.5);
    return svg`<g @pointerenter=${mark?.(index)}><rect class=${index === marked ? 'ground marked' : 'ground'} x=${index * 10} y="0" width="10" height="100"></rect>
      <rect class="bar" x=${index * 10 + 2.5} y=${100 - height} width="5" height=${height}></rect></g>`;
  });
  return html`<div class="scale" aria-hidden="true"><span>${count(top)}</span><span>${count(top / 2n)}</span><span>0</span></div>
    <svg viewBox="0 0 ${counts.length * 10} 100" preserveAspectRatio="none" role="img" aria-label=${label(count(most))}>${bars}</svg>`;
}

/** Returns the top of a scale with an integer half: 2, 4, 10, 20, 40, 100 and so on. */
function scaleOf(most: bigint): bigint {
  for (let unit = 1n; ; unit *= 10n) {
    const top = [2n, 4n, 10n].map((each) => each * unit).find((each) => each >= most);
    if (top !== undefined) return top;
  }
}

/** The counts of each day, the latest first, and their sum. @param current is emphasized */
export function dayTable(
  { periods }: Activity,
  current: Date,
  cell: (day: Date, name: unknown) => unknown,
) {
  const row = (period: Activity['periods'][number]) => {
    const day = new Date(period.from);
    const isCurrent = dayText(day) === dayText(current);
    const text = dayText(day) === dayText(today()) ? 'Today' : longDay(day);
    return html`<tr aria-current=${isCurrent ? 'date' : nothing}><th scope="row">${cell(day, html`<time datetime=${period.from}>${text}</time>`)}</th>
      ${TYPES.map((type) => html`<td class="number ${period[type] === 0n ? 'none' : ''}">${count(period[type])}</td>`)}</tr>`;
  };
  return html`<table>
    <caption class="hidden">Orders of each day, the latest first</caption>
    <thead><tr><th scope="col">Day</th>${TYPES.map((type) => html`<th scope="col" class="number">${eventWords(type)[1]}</th>`)}</tr></thead>
    <tbody>${periods.toReversed().map(row)}</tbody>
    <tfoot><tr><th scope="row">All</th>${TYPES.map((type) => html`<td class="number">${count(sumOf(periods, type))}</td>`)}</tr></tfoot>
  </table>`;
}
