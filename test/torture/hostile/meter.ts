import { Agent } from 'node:http';
import { send } from '../http.ts';

/** Requests that wait for an answer at the same time. */
const AT_ONCE = 4;
const LIMIT_MS = 10_000;

/** Reads an order again and again with a good key. @returns the 99th percentile of the response times, in milliseconds */
export async function p99(port: number, secret: string, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const times: number[] = [];
  const until = performance.now() + forMs;
  const client = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      const call = { method: 'GET', path: '/v2/store/orders/1', secret };
      const { status } = await send({ port, agent, limitMs: LIMIT_MS }, call);
      if (status !== 200) throw new Error(`a good key was answered ${status}`);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  times.sort((one, other) => one - other);
  return times[Math.floor(times.length * 0.99)]!;
}
