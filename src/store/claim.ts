import type { Environment } from '../domain/api-key.ts';
import { type Store, StoreNotUsable } from './store.ts';

/** @param label of the database @throws StoreNotUsable if the store was moved to another database */
export function expectNotMoved(label: string, movedTo: string | undefined): void {
  if (movedTo === undefined) return;
  throw new StoreNotUsable(
    `the store ${label} was moved to ${movedTo}; use that database. To continue with this ` +
      'one instead, make sure that the other is not used, and run "store-orders reactivate"',
  );
}

/** Returns the environment of the store; records `wanted` if none is recorded. */
export async function claimEnvironment(store: Store, wanted: Environment): Promise<Environment> {
  const { environment } = await store.status();
  if (environment !== undefined) return environment;
  const [recorded] = await store.apply([{ type: 'recordEnvironment', environment: wanted }]);
  return recorded!;
}

/** @throws StoreNotUsable if the recorded environment is not the wanted one */
export function expectEnvironment(
  label: string,
  recorded: Environment | undefined,
  wanted: Environment | undefined,
): void {
  if (recorded === undefined || wanted === undefined || recorded === wanted) return;
  throw new StoreNotUsable(
    `the store ${label} is for ${recorded}, but ENVIRONMENT is ${wanted}; ` +
      'correct ENVIRONMENT or the database URL',
  );
}
