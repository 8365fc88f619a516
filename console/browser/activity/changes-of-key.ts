import type { Change } from '@store-orders/client';
import type { Screen } from '../screen.ts';
import type { ChangesOfKey } from '../state.ts';

/** Requests of one reading, each of which examines up to 5,000 changes of the store. */
const MAX_REQUESTS = 400;
/** The latest changes are shown. */
export const MAX_SHOWN = 1_000;

/**
 * Reads what a key did on the days that are shown. No index has the changes by key, so the whole feed is read, up to MAX_REQUESTS requests; closing the
 * dialog ends it.
 */
export async function readChangesOfKey(
  screen: Screen,
  { by, name }: { readonly by: string; readonly name: string },
): Promise<void> {
  const { session, activity } = screen.state;
  const from = activity?.found?.periods[0]?.from;
  if (session === undefined || from === undefined) return;
  const ending = new AbortController();
  const signal = AbortSignal.any([session.ending.signal, ending.signal]);
  const begun = { kind: 'of-key', by, name, from, changes: [], state: 'reading', ending } as const;
  screen.change((state) => (state.dialog = begun));
  const show = (found: Partial<ChangesOfKey>) =>
    screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind === 'of-key' && dialog.ending === ending)
        state.dialog = { ...dialog, ...found };
      // The dialog was closed, by its button or by a link in it.
      else ending.abort();
    });
  let changes: readonly Change[] = [];
  let after = 'start';
  try {
    for (let request = 0; request < MAX_REQUESTS; request += 1) {
      const page = await session.client.listChanges({ by, after, limit: 500 }, { signal });
      after = page.next;
      const inTime = page.changes.filter(({ at }) => at >= from);
      changes = [...changes, ...inTime].slice(-MAX_SHOWN);
      show({ changes });
      if (!page.more) {
        show({ state: 'whole' });
        return;
      }
    }
    show({ state: 'cut' });
  } catch (error) {
    const problem = signal.aborted ? undefined : screen.problemOf(session, error);
    if (problem !== undefined) show({ state: 'failed', problem });
  }
}
