import { readFileSync } from 'node:fs';
import { Network, type Step } from './network.ts';

/** A scenario of scenarios.json; README.md explains its fields. */
export interface Scenario {
  readonly name: string;
  readonly given?: readonly ('pending' | 'shipped' | 'cancelled')[];
  readonly down?: true;
  readonly network?: readonly Step[];
  readonly always?: Step;
  readonly meanwhile?: 'cancel';
  readonly call: Call;
  readonly expect: Result;
  readonly orders?: readonly string[];
  readonly placed?: number;
  readonly requests?: number;
  readonly atLeastMs?: number;
}

/** What the client is to do. Ids are strings of digits, so that every JSON parser keeps them. */
export interface Call {
  readonly method: string;
  readonly key?: 'cancel';
  readonly [argument: string]: unknown;
}

/** The outcome of a call, as the client reports it. */
export interface Result {
  readonly result: 'success' | 'refused' | 'unknown' | 'not sent' | 'failed' | 'altered' | 'misuse';
  readonly [detail: string]: unknown;
}

/** The service that the scenarios are played against. */
export interface Service {
  readonly origin: string;
  /** A key that may do everything. */
  readonly key: string;
  /** A key that may only cancel. */
  readonly cancelKey: string;
}

/** Makes a call with the client under test. */
export type Perform = (
  call: Call,
  at: { readonly url: string; readonly key: string },
) => Promise<Result>;

const SCENARIOS = new URL('scenarios.json', import.meta.url);

export function scenarios(): readonly Scenario[] {
  return JSON.parse(readFileSync(SCENARIOS, 'utf8'));
}

/** Plays a scenario. @returns what is not as expected; empty if all is */
export async function play(
  scenario: Scenario,
  service: Service,
  perform: Perform,
): Promise<string[]> {
  const { given = [], network: steps = [], always, expect } = scenario;
  const store = new Orders(service);
  const start = scenario.meanwhile === undefined ? await store.cursor() : undefined;
  for (const status of given) await store.place(status);
  const names = await store.names(start);
  const network = new Network(
    service.origin,
    (index) => steps[index] ?? always ?? { do: 'forward' },
  );
  const url = await network.listen();
  if (scenario.down) await network.close();
  const from = performance.now();
  const call = substituted(scenario.call, names);
  const key = call.key === 'cancel' ? service.cancelKey : service.key;
  const performing = perform(call, { url, key });
  if (scenario.meanwhile === 'cancel') {
    // A client that starts slowly must not read all cancels with its first request.
    await Promise.race([network.firstHandled, performing]);
    await store.cancelOneByOne();
  }
  const result = await performing;
  const ms = performance.now() - from;
  await network.close();

  const problems = [...network.problems];
  const compare = (what: string, found: unknown, wanted: unknown) => {
    if (wanted === undefined || isLike(found, wanted)) return;
    problems.push(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
  };
  compare('result', result, substituted(expect, names));
  compare('orders', await store.statuses(), scenario.orders);
  compare('orders placed', await store.placedBy(names.get('pet')!), scenario.placed);
  compare('requests', network.requests.length, scenario.requests);
  const withoutId = network.requests.filter(({ id }) => id === '').length;
  compare('requests without X-Request-Id', withoutId, 0);
  if (ms < (scenario.atLeastMs ?? 0)) problems.push(`the call took only ${Math.round(ms)} ms`);
  return problems;
}

/** The orders of a scenario, placed and read directly, without the simulated network. */
class Orders {
  readonly #service: Service;
  /** In digits. */
  readonly #ids: string[] = [];
  /** Of orders that the client places; beyond 2^53. */
  readonly #pet = String(2n ** 62n + BigInt(Math.floor(Math.random() * 2 ** 50)));

  constructor(service: Service) {
    this.#service = service;
  }

  async place(status: string): Promise<void> {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const body = '{"petId":1,"quantity":1}';
    const id = digits(await this.#call('POST', '/v2/store/orders', { headers, body }), 'id');
    this.#ids.push(id);
    if (status === 'cancelled') await this.#call('POST', `/v2/store/orders/${id}/cancel`);
    if (status === 'shipped') await this.#call('POST', `/v2/store/orders/${id}/ship`);
  }

  /** Values of the "$…" placeholders of the scenario. @param start cursor of the changes; the current one by default */
  async names(start: string | undefined): Promise<ReadonlyMap<string, string>> {
    const names = new Map([
      ['pet', this.#pet],
      ['start', start ?? (await this.cursor())],
    ]);
    for (const [index, id] of this.#ids.entries()) {
      names.set(String(index + 1), id);
      const { headers } = await this.#fetch('GET', `/v2/store/orders/${id}`);
      names.set(`etag${index + 1}`, headers.get('etag')!);
    }
    return names;
  }

  async cursor(): Promise<string> {
    return JSON.parse(await this.#call('GET', '/v2/store/changes?after=now')).next;
  }

  async cancelOneByOne(): Promise<void> {
    for (const id of this.#ids) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await this.#call('POST', `/v2/store/orders/${id}/cancel`);
    }
  }

  statuses(): Promise<string[]> {
    const statusOf = async (id: string) =>
      JSON.parse(await this.#call('GET', `/v2/store/orders/${id}`)).status;
    return Promise.all(this.#ids.map(statusOf));
  }

  async placedBy(pet: string): Promise<number> {
    return JSON.parse(await this.#call('GET', `/v2/store/orders?petId=${pet}`)).orders.length;
  }

  async #call(method: string, path: string, init: RequestInit = {}): Promise<string> {
    const response = await this.#fetch(method, path, init);
    const body = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${body}`);
    return body;
  }

  #fetch(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const authorization = `Bearer ${this.#service.key}`;
    const type = init.body === undefined ? undefined : { 'content-type': 'application/json' };
    const headers = { authorization, ...type, ...(init.headers as Record<string, string>) };
    return fetch(`${this.#service.origin}${path}`, { ...init, method, headers });
  }
}

/** The digits of an integer in a JSON record. */
function digits(json: string, name: string): string {
  return new RegExp(`"${name}":(-?\\d+)`).exec(json)![1]!;
}

/** Replaces the "$…" placeholders in `value`. */
function substituted<T>(value: T, names: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value).replaceAll(/"\$(\w+)"/g, (found, name: string) => {
    const meant = names.get(name);
    return meant === undefined ? found : JSON.stringify(meant);
  });
  return JSON.parse(text);
}

/** Whether `found` has everything that `wanted` has. */
function isLike(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && (found as unknown[]).length !== wanted.length) return false;
  return Object.entries(wanted).every(([name, each]) =>
    isLike((found as Record<string, unknown>)[name], each),
  );
}
