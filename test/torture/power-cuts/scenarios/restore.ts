import assert from 'node:assert/strict';
import { join } from 'node:path';
import { succeed } from '../../command.ts';
import { examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 20;
const LATER_PET = 1_000;
const LATER = 10;

/** A restore of an older backup, after a crash: the store is the old one or the new one, whole, and ids of the old one are not given again. */
export const restore: Scenario = {
  name: 'a restore',
  record: async (root, shim) => {
    const database = join(root, 'store.db');
    const secret = await makeStore(database, ORDERS);
    await succeed(['backup', join(root, 'backup.db'), '--database', `sqlite:${database}`]);
    const recording = new Recording(root, shim, secret);
    const place = async (from: number) => {
      const service = await recording.serve();
      for (let pet = from; pet < from + LATER; pet += 1) {
        recording.mayFind(`placed ${pet}`);
        await service.request({
          ...{ method: 'POST', path: '/v2/store/orders' },
          headers: { 'idempotency-key': String(pet) },
          body: `{"petId":${pet},"quantity":1}`,
        });
        await service.request({ method: 'GET', path: '/v2/store/changes?after=now' });
        await service.request({ method: 'GET', path: '/v1/store/orders' });
      }
      return service;
    };
    for (let id = 1; id <= ORDERS; id += 1) recording.mayFind(`placed ${id}`);
    const crashed = await place(LATER_PET);
    await crashed.kill();
    recording.claim({ type: 'done', what: 'placed' });
    const args = ['restore', 'backup.db', '--database', 'sqlite:store.db'];
    await recording.command(args, { claims: [{ type: 'done', what: 'restored' }] });
    const service = await place(LATER_PET + LATER);
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    const isRestored = expected.claims.some(
      (each) => each.type === 'done' && each.what === 'restored',
    );
    const placed = expected.claims.filter(({ type }) => type === 'order');
    await examineStore(expected, random, {
      // While the restore runs, the store is the old or the new one.
      mayBeOlder: placed.length >= LATER,
      also: async (changes) => {
        const ids = new Set(changes.map(({ order }) => String(order.id)));
        const [before, after] = [placed.slice(0, LATER), placed.slice(LATER)];
        const kept = before.filter((each) => each.type === 'order' && ids.has(each.id));
        if (isRestored) assert.equal(kept.length, 0, 'the restored store has later orders');
        else
          assert.ok(
            kept.length === 0 || kept.length === before.length,
            'a part of the store is left',
          );
        for (const each of after) {
          assert.ok(
            each.type === 'order' && ids.has(each.id),
            'an order placed after the restore is lost',
          );
        }
      },
    });
  },
};
