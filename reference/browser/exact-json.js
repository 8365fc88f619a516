// Plain JavaScript, sent to browsers unchanged; its types are checked.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;

/** Names of fields, which are not coloured; strings; words; numbers. */
const COLOURED = /("(?:[^"\\]|\\.)*")(\s*:)?|(true|false|null)\b|-?\d[\d.eE+-]*/g;

/**
 * Returns the nodes of a text whose strings, words and numbers are coloured as JSON, with every character as it is.
 * @param {string} text
 */
export function coloured(text) {
  /** @type {(string | HTMLElement)[]} */
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(COLOURED)) {
    const [token, string, colon, word] = match;
    if (colon !== undefined) continue;
    const element = document.createElement('i');
    element.className = string !== undefined ? 's' : word !== undefined ? 'w' : 'n';
    element.textContent = token;
    nodes.push(text.slice(end, match.index), element);
    end = match.index + token.length;
  }
  return [...nodes, text.slice(end)];
}

/**
 * Indents JSON by its text, so that every digit stays. A text that is not JSON is returned unchanged.
 * @param {string} text
 * @param {boolean} isCut whether only the beginning of the text is there
 */
export function indented(text, isCut) {
  try {
    if (!isCut || !/^\s*[{[]/.test(text)) JSON.parse(text);
  } catch {
    return text;
  }
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let result = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const isEmpty = (token === '{' || token === '[') && '}]'.includes(tokens[index + 1] ?? ' ');
    if (token === '}' || token === ']') {
      const wasEmpty = '{['.includes(tokens[index - 1] ?? ' ');
      depth -= 1;
      result += wasEmpty ? token : line() + token;
    } else if (token === '{' || token === '[') {
      depth += 1;
      result += isEmpty ? token : token + line();
    } else if (token === ',') result += token + line();
    else result += token === ':' ? ': ' : token;
  }
  return result;
}
