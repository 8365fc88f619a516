import { parse } from './exact-json.ts';

/** Strings, a string that is not closed yet, and brackets. */
const TOKENS = /"(?:[^"\\]|\\.)*"|"|[{}[\]]/g;

/** Maximum length of an element; those of the service have a few hundred bytes. */
const MAX_ELEMENT_LENGTH = 1024 * 1024;

/**
 * Parses a JSON array of objects as it arrives, holding only the text that is not parsed yet.
 * @throws SyntaxError if the text is not such an array, or is incomplete; RangeError if an element is longer than
 *   MAX_ELEMENT_LENGTH
 */
export async function* elementsOf<T>(chunks: AsyncIterable<string>): AsyncGenerator<T, void> {
  let text = '';
  let isOpen = false;
  let isClosed = false;
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > MAX_ELEMENT_LENGTH + chunk.length)
      throw new RangeError('an element is too long');
    if (!isOpen) {
      if (text.trimStart() === '') continue;
      if (text.trimStart()[0] !== '[') throw new SyntaxError('this is not a list');
      text = text.slice(text.indexOf('[') + 1);
      isOpen = true;
    }
    const { end, closesList } = lastElement(text);
    const elements = text.slice(0, end).replace(/^\s*,/, '');
    text = text.slice(end);
    if (elements.trim() !== '') yield* parse(`[${elements}]`) as T[];
    isClosed ||= closesList;
  }
  if (!isClosed) throw new SyntaxError('the list ended before its last order');
}

/** Returns where the last whole element ends, and whether the end of the list follows. */
function lastElement(text: string): { end: number; closesList: boolean } {
  let [depth, end] = [0, 0];
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '"') break;
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') {
      if (depth === 0) {
        // Between the elements, which are objects, only white space is valid.
        if (text.slice(end, index).trim() !== '') throw new SyntaxError('this is not a list');
        return { end, closesList: true };
      }
      depth -= 1;
      if (depth === 0) end = index + 1;
    }
  }
  return { end, closesList: false };
}
