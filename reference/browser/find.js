// Finds operations, fields and errors in the page.

const MOST_FOUND = 40;

/** What people search for, in the words of the page. @type {Readonly<Record<string, readonly string[]>>} */
const SYNONYMS = {
  pagination: ['page', 'cursor'],
  paging: ['page', 'cursor'],
  authentication: ['key', '401'],
  authorization: ['scope', '403'],
  auth: ['key'],
  token: ['key'],
  rate: ['limit'],
  throttling: ['limit'],
  idempotency: ['retries', 'idempotency-key'],
  signature: ['webhook'],
  polling: ['changes'],
  sse: ['stream'],
  delete: ['cancel'],
  retry: ['retries'],
  filter: ['list'],
  date: ['shipdate', 'since'],
};
/** Words of questions that say nothing about what is looked for. */
const FILLERS = ['a', 'an', 'by', 'do', 'for', 'how', 'i', 'in', 'is', 'of', 'the', 'to', 'what'];

/** @typedef {{ readonly name: string, readonly where: string, readonly href: string, readonly text?: string }} Place */

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
    const typed = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const telling = typed.filter((word) => !FILLERS.includes(word));
    const words = telling.length > 0 ? telling : typed;
    places ??= placesIn(document).map(indexed);
    const matching = words.length === 0 ? [] : matchesOf(places, words);
    found.replaceChildren(...matching.map(linkTo));
    found.hidden = words.length === 0;
    all.hidden = words.length > 0;
    none.textContent = words.length > 0 && matching.length === 0 ? 'Nothing has this name.' : '';
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
 * Returns the places that have the most of the words, or of what they mean; those that have them in their names come first.
 * @param {readonly Indexed[]} places
 * @param {readonly string[]} words
 */
function matchesOf(places, words) {
  // Once for all places.
  const wanted = words.map((word) =>
    [word, ...(SYNONYMS[word] ?? [])].map((each) => ` ${plain(each)}`),
  );
  const countIn = (/** @type {string} */ text) =>
    wanted.filter((meant) => meant.some((each) => text.includes(each))).length;
  const ranked = places.map(({ place, name, where, text }) => {
    const rank = 2 * countIn(name) + countIn(where);
    return { place, rank, count: countIn(`${name}${where}${text}`) };
  });
  const most = Math.max(1, ...ranked.map(({ count }) => count));
  return ranked
    .filter(({ count }) => count === most)
    .toSorted((one, other) => other.rank - one.rank)
    .slice(0, MOST_FOUND)
    .map(({ place }) => place);
}

/** A place with its texts as they are searched. @param {Place} place */
const indexed = (place) => ({
  place,
  name: beginnings(place.name),
  where: beginnings(place.where),
  text: beginnings(place.text ?? ''),
});

/** Lower case, with a blank for all but letters and digits. */
const plain = (/** @type {string} */ text) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, ' ');

/** A text in which each beginning of a word, also within a name such as listOrders, has a blank before it. */
const beginnings = (/** @type {string} */ text) =>
  ` ${plain(text)} ${plain(text.replaceAll(/([a-z])([A-Z])/g, '$1 $2'))}`;

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
  }));
  const operations = [...page.querySelectorAll('article')].flatMap((article) => {
    const title = article.querySelector('h3')?.firstChild?.textContent ?? '';
    const operation = textOf(article, '.facts code');
    const where = `${article.id.split('-')[0]} ${operation}`;
    const scope = textOf(article, '.facts a');
    return [
      { name: title, where: `${where} ${scope}`, href: `#${article.id}` },
      ...[...article.querySelectorAll('.field[id]')].map((field) => ({
        name: textOf(field, '.name'),
        where,
        href: `#${field.id}`,
      })),
    ];
  });
  const rows = [...page.querySelectorAll('tr[id]')].map((row) => ({
    name: textOf(row, 'code'),
    where: row.closest('.errors') === null ? 'scope' : `error code ${textOf(row, 'td')}`,
    href: `#${row.id}`,
    text: row.textContent,
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
