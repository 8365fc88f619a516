// Sends the requests of the "Try it" forms. Responses are shown as received, so every digit is exact.
// Plain JavaScript, since it is sent to browsers unchanged; its types are checked nevertheless.

/** Longest text that is shown of an answer. */
const MAX_SHOWN = 100_000;

/** Requests so far. */
let sent = 0;

const keyForm = /** @type {HTMLFormElement} */ (document.querySelector('form.key'));
const key = /** @type {HTMLInputElement} */ (keyForm.querySelector('input'));
keyForm.hidden = false;
keyForm.addEventListener('submit', (event) => event.preventDefault());

/** @type {NodeListOf<HTMLFormElement>} */
const forms = document.querySelectorAll('form.try');
for (const form of forms) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const answer = /** @type {HTMLPreElement} */ (form.querySelector('.answer'));
  if (key.value === '') {
    key.focus();
    answer.textContent = 'Enter an API key at the top of the page first.';
    return;
  }
  const { url, init } = requestOf(form);
  // The answer to an earlier request, which may come later, is not shown.
  sent += 1;
  const request = String(sent);
  form.dataset.request = request;
  answer.textContent = '…';
  let text;
  try {
    text = await shown(await fetch(url, { ...init, cache: 'no-store', redirect: 'error' }));
  } catch (error) {
    text = `The request failed: ${error}`;
  }
  if (form.dataset.request === request) answer.textContent = `${init.method} ${url}\n\n${text}`;
}

/** @param {HTMLFormElement} form */
function requestOf(form) {
  const method = String(form.dataset.method).toUpperCase();
  /** @type {Record<string, string>} */
  const headers = { authorization: `Bearer ${key.value.trim()}` };
  const query = new URLSearchParams();
  let path = String(form.dataset.path);
  for (const { name, value, dataset } of form.querySelectorAll('input')) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '' && dataset.in === 'query') query.append(name, value);
    else if (value !== '') headers[name] = value;
  }
  const body = form.querySelector('textarea')?.value ?? '';
  if (body !== '') headers['content-type'] = 'application/json';
  const root = document.documentElement.dataset.root ?? '';
  const url = `${root}${path}${query.size === 0 ? '' : `?${query}`}`;
  return { url, init: { method, headers, ...(body !== '' && { body }) } };
}

/** @param {Response} response */
async function shown(response) {
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const { text, isCut } = await beginningOf(response);
  const rest = isCut ? '\n… (truncated)' : '';
  return `${response.status} ${response.statusText}\n${lines.join('\n')}\n\n${text}${rest}`;
}

/**
 * Reads no more than is shown: a list may be long.
 * @param {Response} response
 */
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
