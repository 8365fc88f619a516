import { Marked } from 'marked';
import { Html, html } from '../src/http/pages/html.ts';
import { codeView } from './code-view.ts';

const marked = new Marked({
  renderer: {
    // A region that scrolls must be reachable with the keyboard.
    code: ({ text, lang }) =>
      `<pre tabindex="0"><code>${lang === 'js' ? codeView(text, 'JavaScript').text : html`${text}`.text}</code></pre>\n`,
  },
});

/** Renders Markdown of a contract or a guide, which is trusted text. */
export function markdown(text: string | undefined): Html {
  return new Html(
    text === undefined ? '' : (marked.parse(text, { async: false }) as string).trim(),
  );
}

/** The same for a text within a line. */
export function inlineMarkdown(text: string): Html {
  return new Html(marked.parseInline(text, { async: false }) as string);
}
