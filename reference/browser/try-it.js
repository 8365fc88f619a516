// Sends the requests of the "Try it" forms. Responses are indented by their text, so every digit is exact.

import { coloured, indented } from './exact-json.js';

/** Maximum length of a shown response. */
const MAX_SHOWN = 100_000;

/** Requests so far. */
let sent = 0;

const key = /** @type {HTMLInputElement} */ (document.querySelector('#key'));

export function addTryIt() {
  const keyForm = /** @type {HTMLFormElement} */ (key.form);
  keyForm.hidden = false;
  keyForm.addEventListener('submit', (event) => event.preventDefault());
  for (const box of document.querySelectorAll('details.try')) {
    const details = /** @type {HTMLDetailsElement} */ (box);
    details.hidden = false;
    details.addEventListener('toggle', ({ target }) => {
      if (target === details && details.open) bringIntoView(details);
    });
    addForm(details);
  }
}

/** @param {Element} box */
function addForm(box) {
  const form = /** @type {HTMLFormElement} */ (box.querySelector('form'));
  const confirm = /** @type {HTMLElement | null} */ (form.querySelector('.confirm'));
  const generated = /** @type {HTMLInputElement | null} */ (form.querySelector('[data-generated]'));
  const generate = () => {
    if (generated !== null) generated.value = randomKey();
  };
  generate();
  // The confirmation was for other input.
  form.addEventListener('input', () => {
    if (confirm !== null) confirm.hidden = true;
  });
  form.querySelector('.another')?.addEventListener('click', generate);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isMissing(form)) return;
    if (confirm === null) void send(box, form);
    else {
      confirm.hidden = false;
      /** @type {HTMLElement} */ (confirm.querySelector('.not-now')).focus();
    }
  });
  confirm?.querySelector('.not-now')?.addEventListener('click', () => {
    confirm.hidden = true;
    /** @type {HTMLElement | null} */ (form.querySelector('button.primary'))?.focus();
  });
  confirm?.querySelector('.do-it')?.addEventListener('click', () => {
    confirm.hidden = true;
    /** @type {HTMLElement | null} */ (form.querySelector('button.primary'))?.focus();
    if (form.reportValidity() && !isMissing(form)) void send(box, form);
  });
}

/** @param {HTMLFormElement} form */
function isMissing(form) {
  const problem = /** @type {HTMLElement} */ (form.querySelector('.problem'));
  const isWithoutKey = key.value.trim() === '';
  problem.textContent = isWithoutKey ? 'Enter an API key at the top of the page first. ' : '';
  if (isWithoutKey) {
    const link = document.createElement('a');
    link.href = '#key';
    link.textContent = 'Go there';
    link.addEventListener('click', () => setTimeout(() => key.focus()));
    problem.append(link);
  }
  return isWithoutKey;
}

/** crypto.randomUUID is not used, since browsers provide it only over HTTPS. */
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * @param {Element} box
 * @param {HTMLFormElement} form
 */
async function send(box, form) {
  const result = /** @type {HTMLElement} */ (box.querySelector('.result'));
  const title = /** @type {HTMLElement} */ (result.querySelector('.status'));
  const answer = /** @type {HTMLElement} */ (result.querySelector('.answer'));
  const headers = /** @type {HTMLElement} */ (result.querySelector('.headers'));
  const { url, init } = requestOf(form);
  // A response to an earlier request may arrive later, and is not shown.
  sent += 1;
  const request = String(sent);
  form.dataset.request = request;
  result.hidden = false;
  // Only the body is copied, so that it can be parsed.
  const show = (/** @type {string} */ line, body = '', lines = '') => {
    if (form.dataset.request !== request) return;
    title.textContent = line;
    answer.replaceChildren(...coloured(body));
    headers.textContent = lines;
    bringIntoView(answer.parentElement ?? result);
  };
  show('Sent…');
  /** @type {HTMLElement} */ (result.querySelector('.sent')).textContent = curlOf(url, init);
  const begun = performance.now();
  try {
    const response = await fetch(url, { ...init, cache: 'no-store', redirect: 'error' });
    const { text, isCut } = await beginningOf(response);
    const ms = Math.round(performance.now() - begun);
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
    const body = indented(text, isCut) + (isCut ? '\n… (truncated)' : '');
    show(`${response.status} ${response.statusText} · ${ms} ms`, body, lines.join('\n'));
  } catch (error) {
    show('No response', `The request failed: ${error}`);
  }
}

/** A long sample leaves the form and its answer below the window. @param {Element} element */
function bringIntoView(element) {
  const isAnimated = matchMedia('(prefers-reduced-motion: no-preference)').matches;
  element.scrollIntoView({ block: 'nearest', behavior: isAnimated ? 'smooth' : 'instant' });
}

/** @param {HTMLFormElement} form */
function requestOf(form) {
  const method = String(form.dataset.method).toUpperCase();
  /** @type {Record<string, string>} */
  const headers = { authorization: `Bearer ${key.value.trim().replace(/^Bearer\s+/i, '')}` };
  const query = new URLSearchParams();
  let path = String(form.dataset.path);
  const fields = /** @type {NodeListOf<HTMLInputElement | HTMLSelectElement>} */ (
    form.querySelectorAll('[data-in]')
  );
  for (const { name, value, dataset } of fields) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value.trim()));
    else if (value !== '' && dataset.in === 'query') query.append(name, value);
    else if (value !== '') headers[name] = value;
  }
  const body = form.querySelector('textarea')?.value ?? '';
  if (body !== '') headers['content-type'] = 'application/json';
  const root = document.documentElement.dataset.root ?? '';
  const url = `${root}${path}${query.size === 0 ? '' : `?${query}`}`;
  return { url, init: { method, headers, ...(body !== '' && { body }) } };
}

/**
 * The request for a terminal, with the key as a variable.
 * @param {string} url
 * @param {{ method: string, headers: Record<string, string>, body?: string }} init
 */
function curlOf(url, { method, headers, body }) {
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl ${method === 'GET' ? '' : `--request ${method} `}${quoted(location.origin + url)}`,
    '--header "Authorization: Bearer $KEY"',
    ...Object.entries(headers)
      .filter(([name]) => name !== 'authorization')
      .map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data ${quoted(body)}`]),
  ].join(' \\\n  ');
}

/** Reads only the part that is shown: a list may be long. @param {Response} response */
async function beginningOf(response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
    if (text.length <= MAX_SHOWN) continue;
    void reader.cancel();
    return { text: text.slice(0, MAX_SHOWN), isCut: true };
  }
  return { text, isCut: false };
}
