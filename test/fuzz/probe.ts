// Loaded into the server by the fuzzer (node --import): reports the resource usage on request.
import type { ResourceUsage } from './server.ts';

if (process.channel !== undefined) process.on('message', report);

function report(): void {
  const { gc } = globalThis as { gc?: () => void };
  // Twice: the first run calls finalizers, the second frees what they referenced.
  gc?.();
  gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const sockets = process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap');
  process.send!({ bytes: heapUsed + external, sockets: sockets.length } satisfies ResourceUsage);
}
// The channel to the fuzzer must not keep the process alive; the writer thread has none.
process.channel?.unref();
