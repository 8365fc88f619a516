import { Agent } from 'node:http';
import { send } from '../http.ts';

/** Requests that wait for an answer at the same time. */
const AT_ONCE = 4;
const LIMIT_MS = 10_000;

/** How many times slower an attack may make the service for a good key. */
export const MOST_TIMES = 3;
/** Below this, a difference is the machine's, in milliseconds. */
const NOISE_MS = 1;

/** Whether the 99th percentile during an attack is at most MOST_TIMES that without it. */
export function isWithinLimit(during: number, without: number): boolean {
  return during <= MOST_TIMES * Math.max(without, NOISE_MS);
}

/** A client with a valid key, which keeps its connections. */
export class GoodClient {
  readonly #port: number;
  readonly #secret: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  constructor(port: number, secret: string) {
    this.#port = port;
    this.#secret = secret;
  }

  /** Reads an order again and again. @returns the 99th percentile of the response times, in milliseconds */
  async p99(forMs: number): Promise<number> {
    const times: number[] = [];
    const until = performance.now() + forMs;
    const sending = { port: this.#port, agent: this.#agent, limitMs: LIMIT_MS };
    const call = { method: 'GET', path: '/v2/store/orders/1', secret: this.#secret };
    const readAgain = async () => {
      while (performance.now() < until) {
        const began = performance.now();
        const { status } = await send(sending, call);
        if (status !== 200) throw new Error(`a good key was answered ${status}`);
        times.push(performance.now() - began);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, readAgain));
    times.sort((one, other) => one - other);
    return times[Math.floor(times.length * 0.99)]!;
  }

  end(): void {
    this.#agent.destroy();
  }
}
