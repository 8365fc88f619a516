import { marked } from 'marked';
import { Html } from '../pages/html.ts';

/** Renders the Markdown of a description in a contract, which is trusted text. */
export function markdown(text: string | undefined): Html {
  return new Html(
    text === undefined ? '' : (marked.parse(text, { async: false }) as string).trim(),
  );
}
