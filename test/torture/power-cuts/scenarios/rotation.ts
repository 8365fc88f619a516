import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { examineStore, expectSound } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 20;
const KEPT = 2;
const MADE = 4;

/** A service makes backups at intervals, and deletes the oldest: from the first one on there is always one, and all are whole. */
export const rotation: Scenario = {
  name: 'a rotation of backups',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    mkdirSync(join(root, 'backups'));
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve({
      env: { BACKUP_DIR: 'backups', BACKUP_EVERY: '1s', BACKUP_KEEP: String(KEPT) },
    });
    for (let made = 1; made <= MADE; made += 1) {
      recording.mayFind(`placed ${made}`, `cancelled ${made}`);
      await service.request({ method: 'DELETE', path: `/v1/store/orders/${made}` });
      const pattern = new RegExp(`(?:"file":"([^"]+)"[^\\n]*made and checked[\\s\\S]*?){${made}}`);
      const [, path] = await service.printed(pattern);
      // The name of the file is in the line that was logged.
      recording.claim({ type: 'backup', path: path! }, `${path}"`);
    }
    for (let id = 1; id <= ORDERS; id += 1) recording.mayFind(`placed ${id}`);
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    const names = readdirSync('.').includes('backups')
      ? readdirSync('backups').filter((name) => name.endsWith('.db'))
      : [];
    const made = expected.claims.filter(({ type }) => type === 'backup').length;
    const least = Math.min(made, KEPT);
    assert.ok(names.length >= least, `${names.length} backups are left of ${made} that were made`);
    for (const name of names) await expectSound(`backups/${name}`);
    await examineStore(expected, random);
  },
};
