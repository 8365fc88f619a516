// The scripts of the reference: search, the current section, copying, one language for the whole page, "try it".

import { addFind } from './find.js';
import { addTryIt } from './try-it.js';

/** Where the browser keeps the chosen language. */
const LANGUAGE = 'store-orders-language';
/** The first character of the page that counts as read, below the header. */
const BELOW_HEADER = 96;

document.documentElement.dataset.scripts = 'on';
addFind();
addTryIt();
addAnchors();
addCopyButtons();
addLanguages();
markCurrent();
openTarget();
addEventListener('hashchange', openTarget);
foldContents();
/** If there is no room for the contents beside the text, they open only for a choice. */
function foldContents() {
  const contents = /** @type {HTMLDetailsElement} */ (document.querySelector('.contents'));
  const narrow = matchMedia('(max-width: 58rem)');
  const fold = () => {
    contents.open = !narrow.matches;
  };
  narrow.addEventListener('change', fold);
  fold();
  contents.querySelector('nav')?.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') !== null) fold();
  });
}

/** Opens the elements that contain the target of the address. */
function openTarget() {
  const target = document.getElementById(decoded(location.hash.slice(1)));
  for (let each = target?.parentElement; each; each = each.parentElement) {
    if (each instanceof HTMLDetailsElement) each.open = true;
  }
  if (target?.closest('details.fields')) target.scrollIntoView();
}

/** @param {string} hash which cannot be decoded if it was cut within an escape */
function decoded(hash) {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
}

/** A link to each field that has an address. */
function addAnchors() {
  for (const field of document.querySelectorAll('.field[id]')) {
    const link = document.createElement('a');
    link.className = 'anchor';
    link.href = `#${field.id}`;
    link.textContent = '#';
    link.ariaLabel = `Link to ${field.querySelector('.name')?.textContent}`;
    field.querySelector('p')?.append(link);
  }
}

function addCopyButtons() {
  for (const pre of document.querySelectorAll('.samples .panel, .response pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent ?? '');
        button.textContent = 'Copied';
      } catch {
        // Without HTTPS there is no clipboard: the text is selected instead.
        getSelection()?.selectAllChildren(pre);
        button.textContent = 'Selected';
      }
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
    pre.after(button);
  }
}

/** A choice of language applies to all samples, and to later visits. */
function addLanguages() {
  const choose = (/** @type {string} */ language) => {
    for (const each of document.querySelectorAll('.samples input')) {
      const input = /** @type {HTMLInputElement} */ (each);
      if (input.value === language) input.checked = true;
    }
  };
  choose(localStorage.getItem(LANGUAGE) ?? '');
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.name.endsWith('-language')) return;
    const top = target.getBoundingClientRect().top;
    choose(target.value);
    localStorage.setItem(LANGUAGE, target.value);
    // Samples above may have become longer or shorter.
    scrollBy(0, target.getBoundingClientRect().top - top);
  });
}

/** Marks the section at the top of the window in the contents, and its version in the switch. */
function markCurrent() {
  const sections = [...document.querySelectorAll('main > section, main article')];
  const where = document.querySelector('.contents .where');
  let current = '';
  const mark = () => {
    const section = sections.findLast((each) => each.getBoundingClientRect().top <= BELOW_HEADER);
    const id = section?.id ?? sections[0]?.id ?? '';
    if (id === current) return;
    current = id;
    for (const link of document.querySelectorAll('.contents .all a')) {
      const isCurrent = link.getAttribute('href') === `#${id}`;
      link.setAttribute('aria-current', String(isCurrent));
      if (isCurrent && where !== null) where.textContent = link.firstChild?.textContent ?? '';
      if (isCurrent) keepInSight(link);
    }
    for (const link of document.querySelectorAll('[data-version]')) {
      const version = link.getAttribute('data-version');
      // The guides are those of the latest version.
      const isCurrent = id === version || id.startsWith(`${version}-`);
      const isGuide = !/^v\d/.test(id) && link === link.parentElement?.lastElementChild;
      link.setAttribute('aria-current', String(isCurrent || isGuide));
    }
  };
  addEventListener('scroll', mark, { passive: true });
  addEventListener('hashchange', () => setTimeout(mark));
  mark();
}

/** Below Find, which stays above the contents. @param {Element} link */
function keepInSight(link) {
  // Below each other, the navigation scrolls; beside the text, what contains it does.
  const list = [link.closest('nav'), link.closest('.contents')].find(
    (each) => each !== null && each.scrollHeight > each.clientHeight,
  );
  if (!list) return;
  const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inner.top < outer.top + 56) list.scrollTop -= outer.top - inner.top + 56;
  if (inner.bottom > outer.bottom) list.scrollTop += inner.bottom - outer.bottom + 48;
}
