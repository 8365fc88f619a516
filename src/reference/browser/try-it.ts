// Sends the requests of the "Try it" forms. Answers are shown as the text that arrived, so every digit is exact.

/** Longest text that is shown of an answer. */
const MAX_SHOWN = 100_000;

const key = document.querySelector<HTMLInputElement>('#key')!;
document.querySelector<HTMLFormElement>('form.key')!.hidden = false;
document.querySelector('form.key')!.addEventListener('submit', (event) => event.preventDefault());

for (const form of document.querySelectorAll<HTMLFormElement>('form.try')) {
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form);
  });
}

async function send(form: HTMLFormElement): Promise<void> {
  const answer = form.querySelector<HTMLPreElement>('.answer')!;
  if (key.value === '') {
    key.focus();
    answer.textContent = 'Enter an API key at the top of the page first.';
    return;
  }
  answer.textContent = '…';
  const { url, init } = requestOf(form);
  try {
    const response = await fetch(url, { ...init, cache: 'no-store', redirect: 'error' });
    answer.textContent = `${init.method} ${url}\n\n${await shown(response)}`;
  } catch (error) {
    answer.textContent = `${init.method} ${url}\n\nThere was no answer: ${error}`;
  }
}

function requestOf(form: HTMLFormElement) {
  const method = form.dataset.method!.toUpperCase();
  const headers: Record<string, string> = { authorization: `Bearer ${key.value.trim()}` };
  const query = new URLSearchParams();
  let path = form.dataset.path!;
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

async function shown(response: Response): Promise<string> {
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  const { text, isCut } = await beginningOf(response);
  const rest = isCut ? '\n… (the rest is not shown)' : '';
  return `${response.status} ${response.statusText}\n${lines.join('\n')}\n\n${text}${rest}`;
}

/** Reads no more than is shown: a list may be long. */
async function beginningOf(response: Response): Promise<{ text: string; isCut: boolean }> {
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

export {};
