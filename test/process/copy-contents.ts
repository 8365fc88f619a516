import assert from 'node:assert/strict';
import { databaseAt } from '../../src/store/database.ts';
import { ENGINES, type Engine } from '../store/engines.ts';
import { run } from './program.ts';

/** Fills a store with records of every kind. */
export async function fill(database: string, count: number): Promise<void> {
  const sample = await run(['sample', String(count)]);
  const env = { DATABASE_URL: database };
  await run(['import', '-'], { env, input: sample.stdout });
  await run(['ship', '1', '2', '3'], { env });
  const pets =
    '{"id":9007199254740993,"name":"Zoë \\"Z\\" O\'Hara\\\\","tag":"cat, grey"}\n{"id":-1}\n';
  await run(['pets', 'import', '-'], { env, input: pets });
  await run(['keys', 'create', '--name', 'Käse {"}', '--expires', '2099-01-01'], { env });
  const { stdout } = await run(['keys', 'create', '--name', 'old'], { env });
  assert.match(stdout, /^so_live_/);
  const list = JSON.parse((await run(['keys', 'list', '--json'], { env })).stdout);
  await run(['keys', 'revoke', list[1].id], { env });
  const store = await databaseAt(database).open({ create: false, purpose: 'service' });
  await store.apply([
    { type: 'insertOrder', order: { id: -(2n ** 63n), status: 'pending' } },
    {
      type: 'insertOrder',
      order: { id: 2n ** 63n - 1n, status: 'cancelled', petId: 0n, complete: true },
    },
    { type: 'cancel', id: 4n, by: 'key_x' },
  ]);
  await store.close();
}

/** Everything observable of a store. */
export async function contentsOf(database: string) {
  const env = { DATABASE_URL: database };
  const store = await databaseAt(database).open({ create: false, purpose: 'write' });
  // A store and its copy differ in movedTo.
  const { movedTo: _, ...status } = await store.status();
  const pets = [await store.pet(2n ** 53n + 1n), await store.pet(-1n)];
  const histories = [
    await store.events(1n),
    await store.events(4n),
    await store.events(-(2n ** 63n)),
  ];
  await store.close();
  return {
    status,
    pets,
    histories,
    orders: (await run(['export'], { env })).stdout,
    keys: (await run(['keys', 'list', '--json'], { env })).stdout,
  };
}

export const otherEngine = (engine: Engine) => ENGINES.find(({ name }) => name !== engine.name)!;
