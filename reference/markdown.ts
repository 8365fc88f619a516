import { marked } from 'marked';
import { Html } from '../src/http/pages/html.ts';

/** Renders the Markdown of a description in a contract, which is trusted text. */
export function markdown(text: string | undefined): Html {
  return new Html(
    text === undefined
      ? ''
      : (marked.parse(text, { async: false }) as string)
          .trim()
          // A region that scrolls must be reachable with the keyboard.
          .replaceAll('<pre>', '<pre tabindex="0">'),
  );
}

/** The same for a text within a line. */
export function inlineMarkdown(text: string): Html {
  return new Html(marked.parseInline(text, { async: false }) as string);
}
