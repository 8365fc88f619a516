import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_BATCH } from '../../../../src/domain/batch.ts';
import { command, examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, ordersFrom, type Scenario } from '../scenario.ts';

const CANCELLED = 20;
/** Orders of the store that the file has too, as its first rows. */
const KNOWN = 20;
const FIRST = 1_001;
/** Pets of the rows without an id: more than the known orders, and the last rows of the first transaction. */
const PETS = Array.from({ length: 50 }, (_, index) => 9_001 + index);
/** Rows with new ids in the first transaction, and in the second one. */
const BEFORE = MAX_BATCH - KNOWN - PETS.length;
const AFTER = 100;
const IDS = Array.from({ length: BEFORE + AFTER }, (_, index) => FIRST + index);
const READS_AFTER = 30;
const INPUT = [
  ordersFrom(CANCELLED + 1, KNOWN),
  ordersFrom(FIRST, BEFORE),
  ...PETS.map((pet) => `{"petId":${pet},"quantity":1}\n`),
  ordersFrom(FIRST + BEFORE, AFTER),
].join('');

/** An import of two transactions, beside a service; it can be run again, and then each of its rows is there once. */
export const importing: Scenario = {
  name: 'an import',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), CANCELLED + KNOWN);
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    const inStore = Array.from({ length: CANCELLED + KNOWN }, (_, index) => index + 1);
    recording.mayCancel([...inStore, ...IDS]);
    recording.mayFind(...PETS.map((pet) => `placed ${pet}`));
    let isImporting = true;
    const cancels = async () => {
      for (let id = 1; id <= CANCELLED && isImporting; id += 1) {
        await service.request({ method: 'DELETE', path: `/v1/store/orders/${id}` });
      }
    };
    const imported = IDS.map((id) => {
      return { type: 'order', id: String(id), status: 'pending' } as const;
    });
    const claims = [...imported, { type: 'done', what: 'import' } as const];
    const args = ['import', '-', '--database', 'sqlite:store.db'];
    const done = recording.command(args, { input: INPUT, claims }).finally(() => {
      isImporting = false;
    });
    await Promise.all([done, cancels()]);
    // The power fails before anything else is synced, too.
    for (let read = 0; read < READS_AFTER; read += 1) {
      await service.request({ method: 'GET', path: '/v1/store/orders' });
    }
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    await examineStore(expected, random);
    writeFileSync('again.ndjson', INPUT);
    const { code, output } = await command([
      'import',
      'again.ndjson',
      '--database',
      'sqlite:store.db',
    ]);
    const isDone = expected.claims.some(({ type }) => type === 'done');
    assert.ok(isDone || code === 0 || output.includes('--again'), `import again: ${output}`);
    const listed = await command(['export', '--database', 'sqlite:store.db']);
    const ids = new Set(listed.output.match(/(?<="id":)\d+/g));
    for (const id of IDS) assert.ok(ids.has(String(id)), `no order ${id}`);
    const pets = listed.output.match(/(?<="petId":)\d+/g)!;
    for (const pet of PETS) {
      const times = pets.filter((each) => each === String(pet)).length;
      assert.equal(times, 1, `a row without an id, of pet ${pet}, was imported ${times} times`);
    }
  },
};
