import { type Html, html } from '../pages/html.ts';

/** Writes a table that scrolls where the page is narrow. The first cell of a row is its heading. */
export function table(
  label: string,
  columns: readonly string[],
  rows: readonly (readonly [Html, ...(Html | string | number)[]])[],
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table>
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ([heading, ...cells]) =>
    html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}</tbody>
</table></div>`;
}

/** Writes a name, and "optional" if it is not required. */
export function nameCell(name: string, isRequired: boolean): Html {
  return html`<code>${name}</code>${!isRequired && html` <small>optional</small>`}`;
}
