import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const BYTES = 100_000_000;
const REQUESTS = 200;
/** Of which about 70 are what is received and discarded until it is collected as garbage. */
const MOST_MIB = 128;
/** A body whose end is awaited is as wrong as one that is accepted. */
const ANSWERED_WITHIN_MS = 10_000;

/** Bodies that would be large in memory: compressed, deeply nested, of very many values, or without a length and an end. */
export const bombs: Attack = {
  name: `${REQUESTS} bodies of ${BYTES / 1_000_000} MB, compressed to kilobytes or in chunks, nested 30,000 deep, or of 700,000 values`,
  mustHold: `all are refused with 400, 413 or 415 within ${ANSWERED_WITHIN_MS / 1_000} s; the process grows by at most ${MOST_MIB} MiB`,
  make: async ({ folder, random }) => {
    const zeros = Buffer.alloc(BYTES, 48);
    const bodies = [
      ['gzip', gzipSync(zeros)],
      ['br', brotliCompressSync(zeros)],
      ['identity', Buffer.from('['.repeat(30_000))],
      ['identity', Buffer.from(`{"orders":${'['.repeat(30_000)}`)],
      ['identity', Buffer.from(`{"petId":1${'0'.repeat(60_000)}}`)],
      ['identity', Buffer.from(`{"orders":[${'1,'.repeat(700_000)}1]}`)],
      ['chunked', zeros],
    ] as const;
    const { server, secret } = await serveNew(folder, 10);
    const before = await server.usage();
    const statuses = new Map<string, number>();
    for (let count = 0; count < REQUESTS; count += 1) {
      const [coding, body] = random.pick(bodies);
      const path = random.pick(['orders', 'orders/cancel', 'orders/ship', 'orders/1/ship']);
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(
        `POST /v2/store/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nIdempotency-Key: ${count}\r\n` +
          `Content-Type: application/json\r\n${
            coding === 'chunked'
              ? `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`
              : `Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`
          }`,
      );
      socket.write(body);
      const limit = AbortSignal.timeout(ANSWERED_WITHIN_MS);
      const status = await once(socket, 'data', { signal: limit }).then(
        ([head]) => String(head).slice(9, 12),
        () => 'no answer',
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      socket.destroy();
      if (status === 'no answer') break;
    }
    const mib = ((await server.usage()).resident - before.resident) / 2 ** 20;
    await server.stop();
    const found = [...statuses].map(([status, times]) => `${status} ${times} times`).join(', ');
    const areRefused = [...statuses.keys()].every((status) =>
      ['400', '413', '415'].includes(status),
    );
    return { figures: `${found}; ${mib.toFixed(0)} MiB`, isKept: areRefused && mib <= MOST_MIB };
  },
};
