// Finds operations, fields and errors in the page.

const MOST_FOUND = 20;
/** Places with less than this part of the best score are left out. */
const LEAST_SCORE = 0.25;

/** What people ask for, by the beginnings of words (a hyphen ends a word), and what the page calls it. */
const MEANINGS = [
  ['auth unauth login log token bearer credential password', 'key scope 401'],
  ['forbid permission permit deni deny allow access', 'scope 403'],
  ['get-key obtain', 'scope'],
  ['sandbox staging production environment', 'key scope'],
  ['client library sdk install npm package', 'first'],
  ['pag', 'page cursor'],
  ['rate throttl quota', 'limit 429'],
  ['too-many-req', 'limit retries'],
  ['many batch bulk multiple', 'several'],
  ['many number total statist', 'count'],
  ['conflict lock concurren', '409 precondition'],
  ['start begin tutorial quick', 'first'],
  ['yesterday today recent since date day', 'since placedfrom shipdatefrom'],
  ['idempoten duplicate twice again', 'idempotency retries already'],
  ['signature verif hmac', 'webhook signature'],
  ['poll sync mirror', 'changes'],
  ['sse subscri live event', 'stream'],
  ['delet refund undo remov', 'cancel'],
  ['retr repeat timeout', 'retries'],
  ['filter search export download', 'list'],
  ['update- edit modif', 'cancel'],
  ['create new buy', 'place'],
].map(([asked = '', meant = '']) => ({ asked: asked.split(' '), meant: wordsOf(meant) }));

/** Words of questions that say nothing about what is looked for. */
const FILLERS = wordsOf(
  'a all an and any are as at be by can could do does for from have how i in is it me mean my of on one or please should that the there this to want was what when where which why with without you',
);

/** @typedef {{ readonly name: string, readonly where: string, readonly href: string, readonly text?: string, readonly weight?: number }} Place */

/** @typedef {ReturnType<typeof indexed>} Indexed */

/** Shows the search box; results replace the contents. */
export function addFind() {
  const form = /** @type {HTMLFormElement} */ (document.querySelector('.find'));
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
  const found = /** @type {HTMLElement} */ (document.querySelector('.found'));
  const none = /** @type {HTMLElement} */ (document.querySelector('.found-none'));
  const all = /** @type {HTMLElement} */ (document.querySelector('.contents .all'));
  /** @type {readonly Indexed[] | undefined} */
  let places;
  form.hidden = false;

  const show = () => {
    const typed = wordsOf(input.value);
    const telling = typed.filter((word) => !FILLERS.includes(word));
    places ??= placesIn(document).map(indexed);
    const matching = matchesOf(places, telling.length > 0 ? telling : typed);
    found.replaceChildren(...matching.map(linkTo));
    found.hidden = matching.length === 0;
    all.hidden = matching.length > 0;
    none.textContent =
      input.value.trim() !== '' && matching.length === 0
        ? 'Nothing was found. These are all contents:'
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
    /** @type {HTMLDetailsElement} */ (document.querySelector('.contents')).open = true;
    input.focus();
  });
}

/**
 * Returns the places that have the words, or what they mean, the best first: a word counts more the fewer places have it, and most in a name.
 * @param {readonly Indexed[]} places
 * @param {readonly string[]} words
 */
function matchesOf(places, words) {
  const ranked = places.map((place) => ({ ...place, score: 0 }));
  /** Adds to the scores of the places that have a pattern. @returns whether there are any */
  const add = (/** @type {string} */ pattern, weight = 1) => {
    const level = levelOf(pattern);
    const found = ranked
      .map((each) => ({ each, level: level(each) }))
      .filter((one) => one.level > 0);
    const rarity = Math.log(1 + places.length / found.length);
    for (const one of found) one.each.score += weight * rarity * one.level * one.each.weight;
    return found.length > 0;
  };
  for (const [at, word] of words.entries()) {
    const asked = `${words.slice(at).join('-')}-`;
    const stem = word.replace(/^(...+?)(?:(.)\2)?(?:ed|ing|s)$/, '$1$2');
    const meant = MEANINGS.filter((each) => each.asked.some((one) => asked.startsWith(one)))
      .flatMap((each) => each.meant)
      .filter((each) => each !== word);
    const isKnown = [add(stem), ...meant.map((each) => add(each, 0.6))].includes(true);
    if (!isKnown && word.length >= 5) add(nearly(word));
  }
  const best = Math.max(...ranked.map(({ score }) => score));
  return ranked
    .filter(({ score }) => score > 0 && score >= best * LEAST_SCORE)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MOST_FOUND)
    .map(({ place }) => place);
}

/** How well a place has words that begin with a pattern. @param {string} pattern */
function levelOf(pattern) {
  const begins = new RegExp(` (?:${pattern})`);
  const isWhole = new RegExp(` (?:${pattern})s? `);
  return (/** @type {Indexed} */ { name, where, text }) => {
    if (begins.test(name)) return isWhole.test(name) ? 5 : 4;
    return begins.test(where) ? 2 : Number(begins.test(text));
  };
}

/** A pattern of the word with one letter wrong, missing, too many or exchanged. */
const nearly = (/** @type {string} */ word) =>
  [...word]
    .flatMap((letter, at) => {
      const [before, after] = [word.slice(0, at), word.slice(at + 1)];
      const exchanged = `${before}${after.slice(0, 1)}${letter}${after.slice(1)}`;
      return [`${before}\\w?${after}`, `${before}\\w${letter}${after}`, exchanged];
    })
    .join('|');

/** A place with its texts as they are searched. @param {Place} place */
const indexed = (place) => ({
  place,
  name: beginnings(place.name),
  where: beginnings(place.where),
  text: beginnings(place.text ?? ''),
  weight: place.weight ?? 1,
});

/** Lower case, with a blank for all but letters and digits. @param {string} text */
function plain(text) {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, ' ');
}

/** @param {string} text */
function wordsOf(text) {
  return plain(text).split(' ').filter(Boolean);
}

/** A text in which each beginning of a word, also within a name such as listOrders, has a blank before it. */
const beginnings = (/** @type {string} */ text) =>
  ` ${plain(text)} ${plain(text.replaceAll(/([a-z])([A-Z])/g, '$1 $2'))} `;

/** @param {Document} page @returns {Place[]} */
function placesIn(page) {
  const textOf = (/** @type {Element} */ within, /** @type {string} */ selector) =>
    within.querySelector(selector)?.textContent ?? '';
  const sections = [...page.querySelectorAll('main > section')].map((section) => ({
    name: textOf(section, 'h1, h2'),
    where: section.classList.contains('version') ? '' : 'guide',
    href: `#${section.id}`,
    // The operations and errors of the other sections have places of their own.
    ...(!section.matches('.version, #errors') && { text: section.textContent }),
    weight: section.id === 'changelog' ? 0.2 : 1,
  }));
  const operations = [...page.querySelectorAll('article')].flatMap((article) => {
    const title = article.querySelector('h3')?.firstChild?.textContent ?? '';
    const operation = textOf(article, '.facts code');
    const where = `${article.id.split('-')[0]} ${operation}`;
    const scope = textOf(article, '.facts a');
    const description = [...article.querySelectorAll('.text > p')].map((each) => each.textContent);
    // Those of the latest version come first.
    const weight = article.closest('.version')?.matches(':has(~ .version)') ? 0.9 : 1;
    return [
      {
        ...{ name: title, where: `${where} ${scope}`, href: `#${article.id}`, weight },
        text: description.join(' '),
      },
      ...[...article.querySelectorAll('.field[id]')].map((field) => ({
        ...{ name: textOf(field, '.name'), where, href: `#${field.id}` },
        weight: weight * (field.id.includes('-result-') ? 0.6 : 0.8),
        text: textOf(field, ':scope > p ~ p'),
      })),
    ];
  });
  const rows = [...page.querySelectorAll('tr[id]')].map((row) => ({
    name: textOf(row, 'code'),
    where: row.closest('.errors') === null ? 'scope' : `error code ${textOf(row, 'td')}`,
    href: `#${row.id}`,
    text: row.textContent,
    weight: 0.8,
  }));
  return [...sections, ...operations, ...rows];
}

/** @param {Place} place */
function linkTo({ name, where, href }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  const title = document.createElement('span');
  const hint = document.createElement('small');
  link.href = href;
  title.textContent = name;
  hint.textContent = where;
  link.append(title, hint);
  item.append(link);
  return item;
}
