// What Find looks through: the guides and their parts, operations, fields, scopes and errors of the page.

/**
 * A place in the page.
 * @typedef {{ readonly kind: 'guide' | 'part' | 'operation' | 'field' | 'row', readonly name: string, readonly where: string,
 *   readonly href: string, readonly sentences: readonly string[], readonly leads?: string, readonly weight: number }} Place
 */

/** The elements of a guide that have its text; samples are no text. */
const PROSE = 'p, b:not(a b), td, li:not(:has(p, a b))';
/** The words in bold that begin the parts of a guide; those in links are names of other places. */
const LEADS = 'b:not(a b), strong';
/** The parts of guides: paragraphs and items that begin with words in bold, and headings. */
const PARTS = 'main > section:not(.version) .text :is(p, li, h3, h4)[id]';
/** A version that is not the latest. */
const EARLIER = '.version:has(~ .version)';
const SENTENCE_END = /(?<=[.?])\s+/;

/** @param {Document} page @returns {Place[]} */
export function placesIn(page) {
  return [
    ...[...page.querySelectorAll('main > section')].map(guideIn),
    ...[...page.querySelectorAll(PARTS)].map(partIn),
    ...[...page.querySelectorAll('article')].flatMap(operationAndFieldsIn),
    ...[...page.querySelectorAll('tr[id]')].map(rowIn),
  ];
}

/** @param {Element} section @returns {Place} */
function guideIn(section) {
  // The operations and errors of the other sections have places of their own.
  const isOwn = !section.matches('.version, #errors');
  return {
    kind: 'guide',
    name: textOf(section, 'h1, h2'),
    where: section.classList.contains('version') ? '' : 'guide',
    href: `#${section.id}`,
    leads: isOwn ? sentencesOf(section.querySelectorAll(LEADS)).join(' ') : '',
    sentences: sentencesOf(section.querySelectorAll(isOwn ? PROSE : '.text > h2 + p')),
    weight: section.id === 'changelog' ? 0.3 : section.matches(EARLIER) ? 0.75 : 1,
  };
}

/** @param {Element} part of a guide @returns {Place} */
function partIn(part) {
  return {
    kind: 'part',
    name: (part.querySelector(LEADS) ?? part).textContent,
    where: part.closest('section')?.querySelector('h1, h2')?.textContent ?? '',
    href: `#${part.id}`,
    sentences: sentencesOf([part]),
    weight: part.closest('#changelog') ? 0.5 : 1,
  };
}

/** @param {Element} article @returns {Place[]} */
function operationAndFieldsIn(article) {
  const where = `${article.id.split('-')[0]} ${textOf(article, '.facts code')}`;
  // Those of the latest version come first.
  const weight = article.closest('.version')?.matches(EARLIER) ? 0.75 : 1;
  return [
    {
      kind: 'operation',
      name: article.querySelector('h3')?.firstChild?.textContent ?? '',
      where: `${where} ${textOf(article, '.facts a')}`,
      href: `#${article.id}`,
      leads: textOf(article, '.line code'),
      sentences: sentencesOf(article.querySelectorAll('.text > p:not([class], :has(> .type))')),
      weight,
    },
    ...[...article.querySelectorAll('.field[id]')].map((field) => fieldIn(field, where, weight)),
  ];
}

/** @param {Element} field @param {string} where @param {number} weight @returns {Place} */
function fieldIn(field, where, weight) {
  return {
    kind: 'field',
    name: textOf(field, '.name'),
    where,
    href: `#${field.id}`,
    sentences: sentencesOf(field.querySelectorAll(':scope > p ~ p, [id*=-body-] > p > .type')),
    weight: weight * (field.id.includes('-result-') ? 0.6 : 0.8),
  };
}

/** @param {Element} row of a scope or an error code @returns {Place} */
function rowIn(row) {
  const isError = row.closest('.errors') !== null;
  return {
    kind: 'row',
    name: textOf(row, 'code'),
    where: isError ? `error code ${textOf(row, 'td')}` : 'scope',
    href: `#${row.id}`,
    sentences: sentencesOf(row.querySelectorAll('td')),
    weight: 0.8,
  };
}

const textOf = (/** @type {Element} */ within, /** @type {string} */ selector) =>
  within.querySelector(selector)?.textContent ?? '';

const sentencesOf = (/** @type {Iterable<Element>} */ elements) =>
  [...elements].flatMap((each) => each.textContent.split(SENTENCE_END));
