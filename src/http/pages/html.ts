/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | bigint | false | undefined | readonly Part[];

/** Template for HTML: values are escaped unless they are Html. Lists are joined; `false` and undefined are omitted. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, index) => text + textOf(parts[index])).join(''));
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** An icon on a grid of 16 by 16; a text beside it explains it. @param path of lines */
export const icon = (path: string): Html =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="${path}"></path></svg>`;

/** The mark of the product, a box in a square of 24 by 24 with round corners. */
export const MARK = 'm12 5.5 6 3.2v6.6l-6 3.2-6-3.2V8.7Zm-5.7 3.4L12 12l5.7-3.1M12 12v6.3';
