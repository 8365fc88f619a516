import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

const CLIENTS = 8;
const AGAIN_MS = 20;
/** Nothing that is rehearsed takes longer. */
const GIVE_UP_MS = 60_000;

/**
 * Clients that cancel orders one after another, each at whichever node answers, and repeat what was not answered or
 * was 503, as clients should.
 */
export class Cancels {
  /** The orders whose cancel was acknowledged. */
  readonly acknowledged: number[] = [];
  /** How many attempts were not acknowledged at once, by why. */
  readonly repeated: Record<string, number> = {};
  readonly #origins: readonly string[];
  readonly #secret: string;
  readonly #clients: Promise<void>[];
  #next = 1;
  #isStopped = false;
  #failure: unknown;

  /** @param secret of a key that may cancel; orders are cancelled from id 1 on */
  constructor(t: TestContext, origins: readonly string[], secret: string) {
    this.#origins = origins;
    this.#secret = secret;
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => this.#run(index));
    for (const client of this.#clients) {
      client.catch((error) => {
        this.#failure ??= error;
        this.#isStopped = true;
      });
    }
    t.after(() => {
      this.#isStopped = true;
    });
  }

  /** Waits until so many more cancels were acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged.length + count;
    const until = performance.now() + GIVE_UP_MS;
    while (this.acknowledged.length < wanted) {
      if (this.#failure !== undefined) throw this.#failure;
      assert.ok(performance.now() < until, `no more cancels: ${JSON.stringify(this.repeated)}`);
      await pause(AGAIN_MS);
    }
  }

  /** Ends the clients once each has its last answer. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
  }

  async #run(index: number): Promise<void> {
    let node = index;
    while (!this.#isStopped) {
      const id = this.#next;
      this.#next += 1;
      const until = performance.now() + GIVE_UP_MS;
      for (let isRepeated = false; ; isRepeated = true) {
        const outcome = await this.#cancel(id, this.#origins[node % this.#origins.length]!);
        const isDone = outcome === '204' || (isRepeated && outcome === 'order_already_cancelled');
        if (isDone) break;
        assert.ok(['503', 'no answer'].includes(outcome), `order ${id}: ${outcome}`);
        if (this.#failure !== undefined) return;
        assert.ok(performance.now() < until, `order ${id} was not cancelled: ${outcome}`);
        this.repeated[outcome] = (this.repeated[outcome] ?? 0) + 1;
        node += 1;
        await pause(AGAIN_MS);
      }
      this.acknowledged.push(id);
    }
  }

  async #cancel(id: number, origin: string): Promise<string> {
    try {
      const response = await fetch(`${origin}/v1/store/orders/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${this.#secret}` },
        signal: AbortSignal.timeout(10_000),
      });
      const body = await response.text();
      return response.status === 404 ? JSON.parse(body).code : String(response.status);
    } catch {
      return 'no answer';
    }
  }
}
