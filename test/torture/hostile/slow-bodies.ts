import { setTimeout as pause } from 'node:timers/promises';
import { sendInHalves } from './forbidden-keys.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const BODIES = 200;
/** Longer than the service takes to answer in any case, and shorter than the time in which a body must have arrived. */
const SLOW_MS = 5_000;

/** Placements whose last byte comes late. */
export const slowBodies: Attack = {
  name: `${BODIES} bodies that take ${SLOW_MS / 1_000} s to arrive`,
  mustHold: 'each is answered like one that arrives at once',
  make: async ({ folder }) => {
    const { server, secret } = await serveNew(folder, 10);
    const sent = Array.from({ length: BODIES }, (_, index) =>
      sendInHalves(server.port, {
        ...{ method: 'POST', path: '/v2/store/orders', secret },
        headers: { 'idempotency-key': `slow-${index}` },
        body: `{"petId":${index + 1},"quantity":1}`,
      }),
    );
    await pause(SLOW_MS);
    const statuses = await Promise.all(sent.map(({ complete }) => complete()));
    await server.stop();
    const placed = statuses.filter((status) => status === 201).length;
    return { figures: `${placed} orders were placed`, isKept: placed === BODIES };
  },
};
