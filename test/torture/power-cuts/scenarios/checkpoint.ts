import { join } from 'node:path';
import { examineStore } from '../examine-store.ts';
import { type Recorded, Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

/** Cancels that nearly fill the log: each writes 4 of its 1,000 pages, some write more. */
const BEFORE = 210;
const ROUNDS = 4;
/** Orders that are cancelled by one request, and then one by one, in each round. */
const [TOGETHER, ALONE] = [100, 10];
const ORDERS = BEFORE + ROUNDS * (TOGETHER + ALONE);

/** Large and small changes, during which the full log is written into the database and begins again. */
export const checkpoint: Scenario = {
  name: 'a checkpoint',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    const left = Array.from({ length: ORDERS }, (_, index) => index + 1);
    recording.mayCancel(left);
    const cancelOneByOne = async (count: number) => {
      for (const id of left.splice(0, count)) {
        await service.request({ method: 'DELETE', path: `/v1/store/orders/${id}` });
      }
    };
    await cancelOneByOne(BEFORE);
    recording.beginCuts();
    for (let round = 0; round < ROUNDS; round += 1) {
      const orders = left.splice(0, TOGETHER).map((id) => `{"id":${id}}`);
      await service.request({
        ...{ method: 'POST', path: '/v2/store/orders/cancel' },
        body: `{"orders":[${orders.join(',')}]}`,
      });
      await cancelOneByOne(ALONE);
      await service.request({ method: 'GET', path: '/v2/store/changes?after=now' });
      await service.request({ method: 'GET', path: '/v1/store/orders' });
    }
    await service.stop();
    const recorded = recording.end();
    if (!beginsAgain(recorded)) throw new Error('the log did not begin again');
    return recorded;
  },
  examine: examineStore,
};

/** Whether the beginning of the log is written again while the power may fail. */
function beginsAgain({ entries, from }: Recorded): boolean {
  const logs = entries.flatMap((each) =>
    each.kind === 'opened' && each.path.endsWith('-wal') ? [each.inode] : [],
  );
  return entries
    .slice(from)
    .some((each) => each.kind === 'written' && each.at === 0 && logs.includes(each.inode));
}
