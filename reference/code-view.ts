import { Html, html } from '../src/http/pages/html.ts';

const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/.source;

/** What is coloured, by language: s strings, c comments, w words, n numbers. */
const TOKENS = {
  json: /(?<field>"(?:[^"\\]|\\.)*"(?=\s*:))|(?<s>"(?:[^"\\]|\\.)*")|(?<n>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<w>\b(?:true|false|null)\b)/g,
  curl: /(?<c>^#.*$)|(?<s>"(?:[^"\\]|\\.)*"|'[^']*')|(?<w>^(?:curl|export)\b)/gm,
  JavaScript: new RegExp(
    `(?<c>//.*$)|(?<s>${STRING})|(?<w>\\b(?:import|from|const|await|for|of|new|if|return)\\b)|(?<n>\\b\\d[\\d_]*n?\\b)`,
    'gm',
  ),
  Python:
    /(?<c>#.*$)|(?<s>"(?:[^"\\]|\\.)*")|(?<w>\b(?:import|from|with|as|for|in|def|return|and|any|True|False|None)\b)|(?<n>\b\d+\b)/gm,
} as const;
type CodeLanguage = keyof typeof TOKENS;

/** Writes code with its strings, comments, words and numbers marked, and every character as it is. */
export function codeView(text: string, language: CodeLanguage): Html {
  let end = 0;
  const parts: Html[] = [];
  for (const match of text.matchAll(TOKENS[language])) {
    const [token] = match;
    const [kind] = Object.entries(match.groups!).find(([, part]) => part !== undefined)!;
    parts.push(html`${text.slice(end, match.index)}`);
    parts.push(
      kind === 'field' ? html`${token}` : new Html(`<i class="${kind}">${html`${token}`.text}</i>`),
    );
    end = match.index + token.length;
  }
  return html`${parts}${text.slice(end)}`;
}
