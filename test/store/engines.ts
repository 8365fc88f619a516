import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { temporaryFolder } from '../temporary.ts';

/** The engines that the store's promises are proven on, each with a way to a new, empty database. */
export const ENGINES: readonly { name: string; newDatabase: (t: TestContext) => string }[] = [
  { name: 'SQLite', newDatabase: (t) => `sqlite:${join(temporaryFolder(t), 'store.db')}` },
];

/** A store on `url`, closed after the test. */
export async function open(t: TestContext, url: string, isPatient = true): Promise<Store> {
  const store = await openStore(url, { create: true, isPatient });
  t.after(() => store.close());
  return store;
}
