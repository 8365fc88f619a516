import { join } from 'node:path';
import { examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 6_000;
const AT_A_TIME = 500;

/** Large changes fill the log, so that it is written into the database and begins again, and small ones follow. */
export const checkpoint: Scenario = {
  name: 'a checkpoint',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    const ids = Array.from({ length: ORDERS }, (_, index) => index + 1);
    recording.mayCancel(ids);
    for (let first = 1; first <= ORDERS; first += AT_A_TIME) {
      const orders = ids.slice(first, first + AT_A_TIME - 1).map((id) => `{"id":${id}}`);
      await service.request({
        ...{ method: 'POST', path: '/v2/store/cancellations' },
        body: `{"orders":[${orders.join(',')}]}`,
      });
      await service.request({ method: 'DELETE', path: `/v1/store/orders/${first}` });
      await service.request({ method: 'GET', path: '/v2/store/changes?after=now' });
      await service.request({ method: 'GET', path: '/v1/store/orders' });
    }
    await service.stop();
    return recording.end();
  },
  examine: examineStore,
};
