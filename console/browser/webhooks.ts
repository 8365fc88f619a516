import { ForbiddenError, type Webhook } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from './actions.ts';
import { ago, clockTime, count, inWords, waiting } from './format.ts';
import { type IconName, icon } from './icons.ts';
import type { Screen } from './screen.ts';
import type { State } from './state.ts';

const STATES: Readonly<Record<string, readonly [IconName, string]>> = {
  active: ['live', 'Active'],
  failing: ['warning', 'Failing'],
  paused: ['off', 'Paused'],
};

const REASONS: Readonly<Record<string, string>> = {
  requested: 'on request',
  failed: 'its endpoint has accepted nothing for three days',
  gone: 'its endpoint has answered 410',
  changes_gone: 'the store was restored; set where it begins',
};

/** The endpoints of integrators, with their lags. */
export function webhooksPage(state: State, actions: Actions) {
  const { webhooks } = state;
  const found = webhooks?.found;
  return html`<div class="head-row"><h1 tabindex="-1">Webhooks</h1>
      <p class="small">${found === undefined ? nothing : html`${count(found.length)} ${found.length === 1 ? 'endpoint' : 'endpoints'}`}</p>
      <div class="tools"><button type="button" @click=${actions.readWebhooks}>${icon('again')}Refresh</button></div></div>
    <div role="alert">${webhooks?.problem === undefined ? nothing : html`<p class="notice">${icon('warning')}<span>${webhooks.problem}</span></p>`}</div>
    ${found === undefined && webhooks?.problem === undefined ? html`<p role="status" class="small">${waiting(state, 'Loading…')}</p>` : nothing}
    ${
      found?.length === 0
        ? html`<div class="empty">${icon('link')}<h2>No webhooks</h2><p>Changes can be sent to an address of an integrator: <code>npx store-orders webhooks create</code>.</p>
      <a class="button" href="/reference#v2-createWebhook">${icon('book')}How to create a webhook</a></div>`
        : nothing
    }
    <ul class="endpoints">${found?.map((each) => endpoint(each, webhooks!.notes.get(each.id), actions))}</ul>`;
}

function endpoint(webhook: Webhook, note: string | undefined, actions: Actions) {
  const { id, url, description, state, pauseReason, lag, failures } = webhook;
  const [name, word] = STATES[state] ?? ['off', state];
  const isPaused = state === 'paused';
  const reason = pauseReason === undefined ? undefined : (REASONS[pauseReason] ?? pauseReason);
  return html`<li class="card endpoint" aria-label=${url}>
    <div class="card-head"><h2><bdi>${url}</bdi></h2><span class="pill ${state}">${icon(name)}${word}</span></div>
    <dl>
      ${description === undefined ? nothing : html`<dt>For</dt><dd><bdi>${description}</bdi></dd>`}
      ${reason === undefined ? nothing : html`<dt>Paused</dt><dd>${reason}</dd>`}
      ${lag === undefined ? nothing : html`<dt>Lag</dt><dd>${lagText(lag)}</dd>`}
      <dt>Last accepted</dt><dd>${webhook.lastSuccessAt === undefined ? 'never' : ago(webhook.lastSuccessAt)}</dd>
      ${webhook.lastFailure === undefined ? nothing : html`<dt>Last failure</dt><dd>${failureText(webhook)}</dd>`}
      ${failures === 0n ? nothing : html`<dt>Failed</dt><dd>${count(failures)} ${failures === 1n ? 'time' : 'times'} in a row</dd>`}
      <dt>Id</dt><dd><code>${id}</code></dd>
    </dl>
    <div class="buttons">
      <button type="button" @click=${actions.webhook(id, isPaused ? 'resume' : 'pause')}>${isPaused ? 'Resume' : 'Pause'}</button>
      <button type="button" @click=${actions.webhook(id, 'test')}>Send a test</button>
      <p role="status" class="small">${note ?? nothing}</p>
    </div>
  </li>`;
}

/** At most 1,000 changes are counted. */
function lagText({ count: changes, since }: NonNullable<Webhook['lag']>) {
  if (changes === 0n) return 'none: everything is delivered';
  const many = `${count(changes)}${changes >= 1_000n ? '+' : ''} ${changes === 1n ? 'change' : 'changes'}`;
  return since === undefined ? many : `${many}, the first of ${ago(since)}`;
}

function failureText({ lastFailure, nextAttemptAt }: Webhook) {
  const { at, status, problem } = lastFailure!;
  const answer = status === undefined ? problem : `status ${status}`;
  const next = nextAttemptAt === undefined ? '' : `; repeated at ${clockTime(nextAttemptAt)}`;
  return `${ago(at)}${answer === undefined ? '' : `: ${answer}`}${next}`;
}

/** How often the webhooks are read while they are shown. */
const AGAIN_MS = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Reads the webhooks while the view shows them. The previous ones stay on the page until then. */
export async function readWebhooks(screen: Screen): Promise<void> {
  const { session, view } = screen.state;
  clearTimeout(timer);
  if (session?.may.webhooks !== true || view.page !== 'webhooks') return;
  const show = (found: object) =>
    screen.change((state) => {
      if (state.session !== session) return;
      const before = state.webhooks ?? { found: undefined, problem: undefined, notes: new Map() };
      state.webhooks = { ...before, ...found };
    });
  try {
    const found = await session.client.listWebhooks({ signal: session.ending.signal });
    show({ found, problem: undefined });
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) show({ problem });
  }
  clearTimeout(timer);
  timer = setTimeout(() => void readWebhooks(screen), AGAIN_MS);
}

/** Pauses or resumes a webhook, or sends a test to it, and shows the result. */
export async function changeWebhook(
  screen: Screen,
  id: string,
  action: 'pause' | 'resume' | 'test',
): Promise<void> {
  const { session } = screen.state;
  if (session === undefined) return;
  const note = (text: string) =>
    screen.change((state) => {
      if (state.webhooks === undefined) return;
      const notes = new Map(state.webhooks.notes).set(id, text);
      state.webhooks = { ...state.webhooks, notes };
    });
  const { client, ending } = session;
  const options = { signal: ending.signal };
  note({ pause: 'Pausing…', resume: 'Resuming…', test: 'Sending a test…' }[action]);
  try {
    if (action === 'test') {
      const { accepted, status, problem, durationMs } = await client.testWebhook(id, options);
      const answer = status === undefined ? (problem ?? 'there was no answer') : `status ${status}`;
      note(`Test ${accepted ? 'accepted' : 'not accepted'}: ${answer}, after ${durationMs} ms.`);
    } else {
      const state = action === 'pause' ? 'paused' : 'active';
      await client.updateWebhook(id, { state }, options);
      note(action === 'pause' ? 'Paused.' : 'Resumed.');
    }
  } catch (error) {
    if (screen.problemOf(session, error) === undefined) return;
    // The key has the scope, so the webhook belongs to another key.
    const reason =
      error instanceof ForbiddenError
        ? 'Only the key that has created this webhook may do that, or one with webhooks:manage-all.'
        : inWords(error);
    note(`Not done. ${reason}`);
  }
  await readWebhooks(screen);
}
