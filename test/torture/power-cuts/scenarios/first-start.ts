import { examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import type { Scenario } from '../scenario.ts';

/** The service creates its folder, its store and its first key, and takes the first orders. */
export const firstStart: Scenario = {
  name: 'the first start',
  record: async (root, shim) => {
    const recording = new Recording(root, shim, '');
    const service = await recording.serve({ file: 'data/store.db' });
    const [, secret] = await service.printed(/(so_live_\w{49})\s/);
    recording.claim({ type: 'secret', secret: secret! }, secret);
    for (let pet = 1; pet <= 5; pet += 1) {
      recording.mayFind(`placed ${pet}`);
      await service.request({
        ...{ method: 'POST', path: '/v2/store/orders', secret },
        headers: { 'idempotency-key': String(pet) },
        body: `{"petId":${pet},"quantity":1}`,
      });
    }
    await service.stop();
    return recording.end();
  },
  examine: (expected, random) => examineStore(expected, random, { file: 'data/store.db' }),
};
