import type { Activity } from '@store-orders/client';
import { html, nothing, svg } from 'lit-html';
import type { Actions } from './actions.ts';
import { count, day } from './format.ts';
import { DAY_COUNTS, searchOf } from './query.ts';
import type { State } from './state.ts';

type Periods = Activity['periods'];
export const TYPES = ['placed', 'shipped', 'cancelled'] as const;

/** What happened on the last days, above the list. */
export function activityPanel({ activity, view }: State, actions: Actions) {
  if (activity === undefined) return nothing;
  const { days, found, reading, problem } = activity;
  const link = (each: number) => {
    const to = { ...view, days: each };
    return html`<li><a href=${searchOf(to)} aria-current=${each === days ? 'true' : 'false'} @click=${actions.follow(to)}>${each} days</a></li>`;
  };
  return html`<section class="activity" aria-labelledby="activity">
    <div class="title">
      <h2 id="activity">Activity</h2>
      <nav aria-label="Days to show"><ul>${DAY_COUNTS.map(link)}</ul></nav>
    </div>
    ${found === undefined && reading !== undefined ? html`<p role="status">Counting …</p>` : nothing}
    ${problem === undefined ? nothing : html`<p role="alert" class="problem">${problem} <button @click=${actions.readActivity}>Try again</button></p>`}
    ${found === undefined ? nothing : charts(found)}
  </section>`;
}

function charts({ periods, cancels }: Activity) {
  return html`
    <div class="charts">${TYPES.map((type) => chart(periods, type))}</div>
    <div class="tables">
      <details><summary>Days as a table</summary>${dayTable(periods)}</details>
      ${cancels.length === 0 ? nothing : cancelTable(cancels)}
    </div>`;
}

/** Bars, one for each day, each chart with a scale of its own. */
function chart(periods: Periods, type: (typeof TYPES)[number]) {
  const counts = periods.map((period) => period[type]);
  const total = counts.reduce((sum, each) => sum + each, 0n);
  const most = counts.reduce((top, each) => (each > top ? each : top), 0n);
  const label = `${count(total)} ${type} in ${periods.length} days, at most ${count(most)} in a day`;
  const bars = periods.map(({ from }, index) => {
    const height = most === 0n ? 0 : Number((counts[index]! * 1000n) / most) / 10;
    const visible = counts[index] === 0n ? 0 : Math.max(height, 2);
    return svg`<rect x=${index * 10 + 1} y=${100 - visible} width="8" height=${visible}><title>${day(from)}: ${count(counts[index]!)} ${type}</title></rect>`;
  });
  return html`<figure class=${type}>
    <figcaption><strong class="total">${count(total)}</strong> ${type} <small>up to ${count(most)} a day</small></figcaption>
    <svg viewBox="0 0 ${periods.length * 10} 100" preserveAspectRatio="none" role="img" aria-label=${label}>${bars}</svg>
    <p class="axis" aria-hidden="true"><span>${day(periods[0]!.from)}</span><span>${day(periods.at(-1)!.from)}</span></p>
  </figure>`;
}

function dayTable(periods: Periods) {
  return html`<table>
    <caption>Orders of each day, today first</caption>
    <thead><tr><th scope="col">Day</th>${TYPES.map((type) => html`<th scope="col" class="number">${type}</th>`)}</tr></thead>
    <tbody>${periods.toReversed().map(
      (
        period,
      ) => html`<tr><th scope="row"><time datetime=${period.from}>${day(period.from)}</time></th>
        ${TYPES.map((type) => html`<td class="number">${count(period[type])}</td>`)}</tr>`,
    )}</tbody>
  </table>`;
}

function cancelTable(cancels: Activity['cancels']) {
  return html`<table class="keys">
    <caption>Cancels of these days by API key</caption>
    <thead><tr><th scope="col">Key</th><th scope="col" class="number">cancelled</th></tr></thead>
    <tbody>${cancels.map(
      ({ by, name, cancelled }) => html`<tr>
        <th scope="row">${name ?? by ?? 'operators of the store'} ${name === undefined ? nothing : html`<small>${by}</small>`}</th>
        <td class="number">${count(cancelled)}</td></tr>`,
    )}</tbody>
  </table>`;
}
