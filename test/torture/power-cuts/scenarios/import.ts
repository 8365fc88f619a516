import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, ordersFrom, type Scenario } from '../scenario.ts';

const ORDERS = 20;
/** More than one transaction of an import. */
const IMPORTED = 2_100;
const READS_AFTER = 30;
const FIRST = 1_001;
const IDS = Array.from({ length: IMPORTED }, (_, index) => FIRST + index);
const INPUT = ordersFrom(FIRST, IMPORTED);

/** An import of two transactions, beside a service; it can be run again, and then all of its orders are there once. */
export const importing: Scenario = {
  name: 'an import',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    const ids = Array.from({ length: ORDERS }, (_, index) => index + 1).concat(IDS);
    recording.mayCancel(ids);
    let isImporting = true;
    const cancels = async () => {
      for (let id = 1; id <= ORDERS && isImporting; id += 1) {
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
  },
};
