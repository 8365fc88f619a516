import { Html, html } from '../src/http/pages/html.ts';

const TOKEN =
  /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** Writes JSON with its strings, numbers and words marked, and every digit as it is. Names of fields are not marked. */
export function jsonView(text: string): Html {
  let end = 0;
  const parts: Html[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const [token, string, colon, number] = match;
    parts.push(html`${text.slice(end, match.index)}`);
    if (colon !== undefined) parts.push(html`${token}`);
    else {
      const kind = string !== undefined ? 's' : number !== undefined ? 'n' : 'w';
      parts.push(new Html(`<i class="${kind}">${html`${token}`.text}</i>`));
    }
    end = match.index + token.length;
  }
  return html`${parts}${text.slice(end)}`;
}
