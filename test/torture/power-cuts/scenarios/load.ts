import { join } from 'node:path';
import { examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 60;
const CLIENTS = 4;
const PLACED_PET = 1_000;

/** Several clients cancel, ship, place and list orders, so that batches have one and several commands. */
export const load: Scenario = {
  name: 'cancels and placements under load',
  record: async (root, shim) => {
    const secret = await makeStore(join(root, 'store.db'), ORDERS);
    const recording = new Recording(root, shim, secret);
    const service = await recording.serve();
    let next = 1;
    const client = async () => {
      while (next <= ORDERS) {
        const id = next;
        next += 1;
        recording.mayFind(
          `placed ${id}`,
          `placed ${PLACED_PET + id}`,
          `cancelled ${id}`,
          `shipped ${id}`,
        );
        if (id % 4 === 0) {
          await service.request({ method: 'POST', path: `/v2/store/orders/${id}/ship` });
        } else if (id % 4 === 1) {
          await service.request({ method: 'POST', path: `/v2/store/orders/${id}/cancel` });
        } else {
          await service.request({ method: 'DELETE', path: `/v1/store/orders/${id}` });
        }
        await service.request({
          ...{ method: 'POST', path: '/v2/store/orders' },
          headers: { 'idempotency-key': String(id) },
          body: `{"petId":${PLACED_PET + id},"quantity":1}`,
        });
        const path = [
          '/v1/store/orders',
          '/v2/store/orders?limit=5',
          '/v2/store/changes?after=now',
        ];
        await service.request({ method: 'GET', path: path[id % 3]! });
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    await service.stop();
    return recording.end();
  },
  examine: examineStore,
};
