// Which places of the page answer a question, the best first.

/** @typedef {import('./places.js').Place} Place */

/** Places with less than this part of the best score are left out. */
const LEAST_SCORE = 0.4;
/** A word in a name counts as much as in so many texts. */
const IN_NAME = 4;
/** A word in the text of a part, which is shorter than that of its guide. */
const IN_PART = 1.4;
/** A meaning counts less than the word itself, if the page has the word. */
const MEANT = 0.8;
/** What a place loses that has none of the words of a question. */
const WITHOUT_WORDS = 0.8;
/** The part of a word that a place has in its text alone. */
const IN_TEXT = 0.7;
/** What a name loses if it is mostly other words. */
const OTHER_WORDS = 0.4;

/** What people ask for, by the beginnings of words, and what the page calls it; a hyphen ends a word. */
const MEANINGS = [
  ['auth unauth login log token bearer credential password', 'key scope 401'],
  ['forbid permission permit deni deny allow access', 'scope 403'],
  ['get-key obtain', 'scope'],
  ['sandbox staging production environment test-mode test-key test-data', 'key scope'],
  ['client library sdk install npm package', 'library'],
  ['curl sample example snippet', 'first'],
  ['time-z timezone', 'zone utc boundaries'],
  ['tracking- carrier parcel', 'ship-an-order ship-several'],
  ['leak compromis stolen', 'revoke replace'],
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
  ['notif alert inform told callback push endpoint', 'webhook'],
  ['get-notif get-alert get-inform get-told', 'webhook'],
  ['who why audit trace', 'history'],
  ['status state still', 'get status'],
  ['poll sync mirror copy', 'changes'],
  ['sse subscri live event real-time', 'stream'],
  ['delet refund undo remov', 'cancel'],
  ['retr repeat timeout down- offline fail backoff', 'retries repeated'],
  ['filter search export download', 'list'],
  ['update- edit modif', 'cancel edited'],
  ['v1 v2 differ migrat upgrad', 'version'],
  ['pause disabl', 'update'],
  ['return respond', 'answer'],
  ['localhost local', 'development'],
  ['excel csv', 'spreadsheets'],
  ['event', 'changes'],
  ['length', 'characters'],
  ['change-', 'edited'],
  ['create new buy', 'place'],
].map(([asked = '', meant = '']) => ({
  asked: asked.split(' '),
  meant: meant.split(' ').map((each) => each.replaceAll('-', ' ')),
}));

/** Words of questions that say nothing about what is looked for. */
const FILLERS = wordsOf(
  'a all an and any are as at be by can could do does for from have how i if in is it long me mean much must my of on one or please should that the there this to use want was what when where which with without you',
);

/**
 * How much a place counts by its kind, if the question has several words: the names of fields are single words, which it may have by chance.
 * @type {Readonly<Record<Place['kind'], number>>}
 */
const WEIGHTS = { guide: 1.6, part: 1.6, operation: 1, field: 0.8, row: 0.8 };

/** A place with its texts as they are searched. @typedef {ReturnType<typeof indexed>} Indexed */
/** @param {Place} place */
export const indexed = (place) => ({
  place,
  name: beginnings(place.name),
  where: beginnings(`${place.where} ${place.leads ?? ''}`),
  text: beginnings(place.sentences.join(' ')),
  length: wordsOf(split(place.name)).filter(isTelling).length || 1,
});

/** What a place has of a word. @typedef {{ readonly score: number, readonly isInName: boolean }} Hit */
/** A word of a question, and what it means. @typedef {ReturnType<typeof askedIn>[number]} Asked */

/** @param {string} question */
function askedIn(question) {
  const typed = wordsOf(question);
  const telling = typed.filter(isTelling);
  const words = telling.length > 0 ? telling : typed;
  return words.map((word, at) => {
    const rest = `${words.slice(at).join('-')}-`;
    const meanings = MEANINGS.flatMap(({ asked, meant }) => {
      const phrase = asked.findLast((each) => rest.startsWith(each));
      const isExact = phrase !== undefined && /-./.test(phrase);
      return phrase === undefined ? [] : meant.map((pattern) => ({ pattern, isExact }));
    });
    const stem = word.replace(/^(...+?)(?:(.)\2)?(?:ed|ing|s)$/, '$1$2');
    return { word, stem, meanings: meanings.filter(({ pattern }) => pattern !== word) };
  });
}

/**
 * Returns the places that have the words of a question, or what they mean, the best first. A word counts more the fewer places have it, and
 * most in a name. Each place is returned with the words that its name does not have, each with what
 * it means.
 * @param {readonly Indexed[]} places
 * @param {string} question
 */
export function answersTo(places, question) {
  const asked = askedIn(question);
  const hits = asked.map((each) => hitsOf(places, each)).filter(({ size }) => size > 0);
  const hasWords = wordsOf(question).length > 1;
  const ranked = places.map((each) => {
    const { place, name, length } = each;
    const own = hits.flatMap((of) => of.get(each) ?? []);
    const weight = place.weight * (hasWords ? WEIGHTS[place.kind] : 1);
    const total = weight * scoreOf(own, length) * completeness(own, hits.length);
    const isUnnamed = (/** @type {string} */ pattern) => !name.includes(` ${pattern}`);
    const unnamed = asked
      .map(({ stem, meanings }) => [stem, ...meanings.map(({ pattern }) => pattern)])
      .filter(([stem = '']) => isUnnamed(stem))
      .map((patterns) => patterns.filter(isUnnamed));
    return { place, total, unnamed };
  });
  const best = Math.max(...ranked.map(({ total }) => total));
  return ranked
    .filter(({ total }) => total > 0 && total >= best * LEAST_SCORE)
    .toSorted((one, other) => other.total - one.total);
}

/** A name counts less if it has other words, too. @param {readonly Hit[]} hits @param {number} length of the name */
function scoreOf(hits, length) {
  const inName = hits.filter(({ isInName }) => isInName).length;
  const share = 1 - OTHER_WORDS * (1 - Math.min(1, inName / length));
  return hits.reduce((sum, { score, isInName }) => sum + score * (isInName ? share : 1), 0);
}

/** A place with all words of a question comes before one with a rarer word alone. @param {readonly Hit[]} hits @param {number} known */
function completeness(hits, known) {
  const had = hits.reduce((sum, { isInName }) => sum + (isInName ? 1 : IN_TEXT), 0);
  return 1 - WITHOUT_WORDS * (1 - had / known);
}

/**
 * Returns the places that have a word, what it means, or otherwise a word that differs by a letter.
 * @param {readonly Indexed[]} places
 * @param {Asked} asked
 */
function hitsOf(places, { word, stem, meanings }) {
  /** @type {Map<Indexed, Hit>} */
  const hits = new Map();
  const add = (/** @type {string} */ pattern, /** @type {number} */ weight) => {
    for (const [place, hit] of placesWith(places, pattern, weight)) {
      if (hit.score > (hits.get(place)?.score ?? 0)) hits.set(place, hit);
    }
  };
  add(stem, 1);
  const isKnown = hits.size > 0;
  for (const { pattern, isExact } of meanings) add(pattern, isKnown && !isExact ? MEANT : 1);
  if (hits.size === 0 && word.length >= 5) add(nearly(word), 1);
  return hits;
}

/** @param {readonly Indexed[]} places @param {string} pattern @param {number} weight @returns {[Indexed, Hit][]} */
function placesWith(places, pattern, weight) {
  const level = levelOf(pattern);
  const found = places
    .map((place) => ({ place, level: level(place) }))
    .filter((one) => one.level > 0);
  // Without fields, of which many operations have the same.
  const titles = found.filter((one) => one.place.place.kind !== 'field').length;
  const rarity = Math.log(
    1 + places.filter(({ place }) => place.kind !== 'field').length / Math.max(1, titles),
  );
  return found.map(({ place, level }) => [
    place,
    { score: weight * rarity * level, isInName: level >= IN_NAME },
  ]);
}

/** How well a place has words that begin with a pattern. @param {string} pattern */
function levelOf(pattern) {
  const begins = new RegExp(` (?:${pattern})`);
  const isWhole = new RegExp(` (?:${pattern})s? `);
  return (/** @type {Indexed} */ { place, name, where, text }) => {
    if (begins.test(name)) return isWhole.test(name) ? IN_NAME + 1 : IN_NAME;
    if (begins.test(where)) return 2;
    return begins.test(text) ? (place.kind === 'part' ? IN_PART : 1) : 0;
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

/** Lower case, with a blank for all but letters and digits. @param {string} text */
function plain(text) {
  return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, ' ');
}

/** @param {string} text */
function wordsOf(text) {
  return plain(text).split(' ').filter(Boolean);
}

/** A text in which each beginning of a word, also within a name such as listOrders, has a blank before it. */
const beginnings = (/** @type {string} */ text) => ` ${plain(text)} ${plain(split(text))} `;

/** listOrders -> list Orders */
const split = (/** @type {string} */ text) => text.replaceAll(/([a-z])([A-Z])/g, '$1 $2');

const isTelling = (/** @type {string} */ word) => !FILLERS.includes(word);
