// The search box: results replace the contents.

import { placesIn } from './places.js';
import { answersTo, indexed } from './ranking.js';

const MOST_FOUND = 20;
/** How many characters of a sentence are left before the first word that was found: results are one line each. */
const MOST_BEFORE = 16;

/** @typedef {ReturnType<typeof answersTo>[number]} Answer */

/** Shows the search box. */
export function addFind() {
  const form = /** @type {HTMLFormElement} */ (document.querySelector('.find'));
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
  const found = /** @type {HTMLElement} */ (document.querySelector('.found'));
  const none = /** @type {HTMLElement} */ (document.querySelector('.found-none'));
  const all = /** @type {HTMLElement} */ (document.querySelector('.contents .all'));
  const contents = /** @type {HTMLDetailsElement} */ (form.closest('.contents'));
  /** @type {ReturnType<typeof indexed>[] | undefined} */
  let places;
  form.hidden = false;
  const focus = () => {
    contents.open = true;
    input.focus();
  };
  // Where the contents are closed, their line leads here.
  const way = withText('span', 'Find');
  way.className = 'to-find';
  way.prepend(form.querySelector('.icon')?.cloneNode(true) ?? '');
  way.addEventListener('click', (event) => {
    event.preventDefault();
    focus();
  });
  contents.querySelector('summary')?.append(way);

  const show = () => {
    places ??= placesIn(document).map(indexed);
    const answers = withoutRepeated(answersTo(places, input.value)).slice(0, MOST_FOUND);
    found.replaceChildren(...answers.map(linkTo));
    found.hidden = answers.length === 0;
    all.hidden = answers.length > 0;
    none.textContent =
      input.value.trim() !== '' && answers.length === 0
        ? `Nothing was found for “${input.value.trim()}”. These are all contents:`
        : '';
  };
  input.addEventListener('input', show);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  found.addEventListener('click', () => {
    input.value = '';
    // Runs after the browser has followed the link.
    setTimeout(show);
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && event.target === input) {
      input.value = '';
      show();
    }
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    focus();
  });
}

/** Of fields with the same name, and of the parts of a guide, the first: others would leave no room. @param {readonly Answer[]} answers */
function withoutRepeated(answers) {
  const subjects = answers.map(({ place: { kind, name, where } }) =>
    kind === 'field' ? name : kind === 'part' ? `a part of ${where}` : undefined,
  );
  return answers.filter((_, at) => subjects.indexOf(subjects[at]) === at || !subjects[at]);
}

/** @param {Answer} answer */
function linkTo({ place: { name, where, href, sentences }, unnamed }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = href;
  link.append(withText('span', name), withText('small', where));
  const excerpt = excerptOf(sentences, unnamed);
  if (excerpt !== undefined) {
    // The name stays short for screen readers, which read the excerpt after it.
    link.ariaLabel = `${name} ${where}`;
    link.ariaDescription = excerpt.textContent;
    link.append(excerpt);
  }
  item.append(link);
  return item;
}

/**
 * Returns the sentence that has most of the words, or what they mean, with these marked; undefined if there is none.
 * @param {readonly string[]} sentences
 * @param {Answer['unnamed']} words
 */
function excerptOf(sentences, words) {
  const asked = words.map(([stem = '', ...meant]) => [wordsLike([stem]), wordsLike(meant)]);
  const scoreOf = (/** @type {string} */ sentence) =>
    asked.reduce(
      (sum, [itself, meant]) => sum + (itself?.test(sentence) ? 2 : Number(meant?.test(sentence))),
      0,
    );
  const scores = sentences.map(scoreOf);
  const best = Math.max(0, ...scores);
  if (best === 0) return undefined;
  const all = wordsLike(words.flat());
  return marked(fromFirst(sentences[scores.indexOf(best)] ?? '', all), all);
}

/** Words with one of these beginnings. @param {readonly string[]} beginnings */
const wordsLike = (beginnings) =>
  new RegExp(
    beginnings.length === 0 ? '$^' : `(?<![a-z0-9])((?:${beginnings.join('|')})[a-z0-9]*)`,
    'i',
  );

/** The end of a sentence, from shortly before the first of the words. @param {string} sentence @param {RegExp} words */
function fromFirst(sentence, words) {
  const first = sentence.search(words);
  if (first <= MOST_BEFORE) return sentence;
  return `… ${sentence.slice(sentence.indexOf(' ', first - MOST_BEFORE) + 1)}`;
}

/** @param {string} text @param {RegExp} words */
function marked(text, words) {
  const line = withText('small', '');
  line.className = 'excerpt';
  // Every second part is a word, since the pattern is in parentheses.
  const parts = text.split(words);
  line.append(...parts.map((part, at) => (at % 2 === 0 ? part : withText('mark', part))));
  return line;
}

/** @param {string} name @param {string} text */
function withText(name, text) {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
