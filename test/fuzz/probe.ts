// Loaded into the server by the fuzzer (node --import): reports the resource usage on request.
import { writeHeapSnapshot } from 'node:v8';
import type { ResourceUsage } from './server.ts';

if (process.channel !== undefined) {
  process.on('message', report);
  // It ends with the program that has started it, however that ends.
  process.on('disconnect', () => process.exit());
}

function report(request: 'usage' | { readonly heap: string }): void {
  const { gc } = globalThis as { gc?: () => void };
  // Twice: the first run calls finalizers, the second frees what they referenced.
  gc?.();
  gc?.();
  if (request !== 'usage') {
    process.send!(writeHeapSnapshot(request.heap));
    return;
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap');
  const usage = { bytes: heapUsed + external, resident: rss, sockets: sockets.length };
  process.send!(usage satisfies ResourceUsage);
}
// The channel to the fuzzer must not keep the process alive; the writer thread has none.
process.channel?.unref();
