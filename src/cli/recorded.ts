import type { Action } from '../store/audit.ts';
import type { OutcomeOf, StoreCommand } from '../store/commands.ts';
import type { Store } from '../store/store.ts';
import { counted } from './terminal/output.ts';

/** Applies commands in one transaction with the record of the action. */
export async function applyRecorded<C extends StoreCommand>(
  store: Store,
  action: Action,
  commands: readonly C[],
): Promise<OutcomeOf<C>[]> {
  const record = { type: 'audit', action } as const;
  const [, ...outcomes] = await store.apply<StoreCommand>([record, ...commands]);
  return outcomes as OutcomeOf<C>[];
}

/** Orders 1, 2, 3; or the first ones and how many there are. */
export function namesOf(ids: readonly bigint[]): string {
  const shown = ids.slice(0, 20).join(', ');
  return ids.length > 20 ? `${shown}, … (${counted(ids.length, 'order')})` : shown;
}
