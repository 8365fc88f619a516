import { ForbiddenError } from '@store-orders/client';
import { inWords } from '../format.ts';
import type { Screen } from '../screen.ts';

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
