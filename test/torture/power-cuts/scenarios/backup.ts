import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { command, examineStore, expectSound, latest } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 60;
const BACKUP = 'backups/backup.db';

/** A backup beside a service that takes cancels: it is not there, or whole, and once the command has ended it is there. */
export const backup: Scenario = {
  name: 'a backup',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    mkdirSync(join(root, 'backups'));
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    const ids = Array.from({ length: ORDERS }, (_, index) => index + 1);
    recording.mayCancel(ids);
    const cancel = (id: number) =>
      service.request({ method: 'POST', path: `/v2/store/orders/${id}/cancel` });
    for (const id of ids.slice(0, 5)) await cancel(id);
    const { body } = await service.request({ method: 'GET', path: '/v2/store/changes?after=now' });
    const claim = { type: 'backup', path: BACKUP, cursor: JSON.parse(body).next } as const;
    let isMaking = true;
    const cancels = async () => {
      for (const id of ids.slice(5)) if (isMaking) await cancel(id);
    };
    const args = ['backup', BACKUP, '--database', 'sqlite:store.db'];
    const done = recording.command(args, { claims: [claim] }).finally(() => {
      isMaking = false;
    });
    await Promise.all([done, cancels()]);
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    await examineStore(expected, random);
    const made = latest(expected.claims, 'backup');
    assert.ok(made === undefined || existsSync(BACKUP), 'the backup is lost');
    if (!existsSync(BACKUP)) return;
    await expectSound(BACKUP);
    if (made === undefined) return;
    const args = ['check', '--database', `sqlite:${BACKUP}`, '--at', made.cursor!];
    const { code, output } = await command(args);
    assert.equal(code, 0, `the backup lacks what was acknowledged before it began: ${output}`);
  },
};
