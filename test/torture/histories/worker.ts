import { hash } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { checkAnswer } from '../../http/contract-check.ts';
import { type Answer, type Call, parse, send } from '../http.ts';
import type { Random } from '../random.ts';
import type { Effect, Observed, RequestedChange } from './operation.ts';
import { entryOf } from './record.ts';

/** A key of the store. */
export interface Key {
  readonly id: string;
  readonly secret: string;
}

/** A node that workers may use. */
export interface Target {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** What workers share. */
export interface Workplace {
  readonly random: Random;
  /** Of the history that is served; replaced with it. */
  observed: Observed;
  readonly targets: readonly Target[];
  /** Any of them, by a network that loses some of the responses; undefined at first. */
  lossy?: Target;
  /** The database, for commands. */
  readonly database: string;
  /** The latest orders, the newest last, at which half of the changes are aimed. */
  readonly hot: string[];
  /** Other orders that may be pending. */
  readonly others: string[];
  /** Orders that were imported, in ascending id without gaps. */
  readonly imported: string[];
  /** Ends the workers. */
  isStopping: boolean;
  /** Ends the followers. */
  isStopped: boolean;
  /** Whether workers only do what makes the feed grow fast, and slow clients read nothing. */
  isBurst: boolean;
  /** Whether nothing has gone wrong for a while, so that every request must be answered. */
  isCalm: boolean;
  /** Whether every request must be answered in time, be it with 503. */
  isAnswered: boolean;
  /** By wrong clocks, two nodes may have the lease of webhooks until then, in milliseconds. */
  oneDelivererFrom: number;
  /** Requests that failed although nothing was wrong. */
  readonly unexplained: string[];
  /** Counts what was done, by operation and outcome. */
  readonly counts: Map<string, number>;
  nextPet: bigint;
  /** Until it resolves, workers begin nothing new; undefined while they work. */
  pause: Promise<void> | undefined;
  /** Workers that wait for `pause`. */
  readonly waiting: Set<Worker>;
}

/** Longer than the service takes to answer in any case. */
const LIMIT_MS = 4_000;
const AGAIN_MS = 50;
/** Share of what can be repeated that is sent twice at the same time. */
export const TWICE = 0.1;
/** Share of the responses that are compared with the contract, which takes longer than the request. */
const COMPARED = 0.1;
/** No request of a worker may be answered so, unless it must be refused so. */
const WRONG = [400, 401, 403, 405, 415, 422, 500];

/** An Idempotency-Key was used with another body. */
export const KEY_REUSED: Refusal = { status: 422, code: 'idempotency_key_reused' };

/** One thing that a worker does. */
export type Action = (worker: Worker) => Promise<void>;

/** What a request may change, and how its response is understood. */
export interface Meaning {
  readonly changes?: readonly RequestedChange[];
  /** Returns what a response below 500 shows; undefined if nothing. */
  readonly effectOf: (answer: Answer) => Effect | readonly Effect[] | undefined;
  /** The node; by default any. */
  readonly target?: Target | undefined;
  /** How the request must be refused, if it is answered; by default it must not be refused as wrong. */
  readonly refusal?: Refusal | undefined;
}

/** A status below 500 and a code of an Error record. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

/** A client that does one thing after another, each at any node, until the test ends. */
export class Worker {
  readonly name: string;
  readonly place: Workplace;
  readonly #agent = new Agent({ keepAlive: true });
  #key: Key;
  /** The ETag of the last list. */
  etag: string | undefined;
  /** The end of the last page of changes, and the history it belongs to. */
  cursor: { readonly text: string; readonly of: Observed } | undefined;
  /** The last order that was read, for If-Match. */
  lastRead: { readonly order: string; readonly etag: string; readonly status: string } | undefined;
  /** What was read last by version 2, to be read again if it has changed. */
  lastGet:
    | {
        readonly what: string;
        readonly call: Call;
        readonly effectOf: Meaning['effectOf'];
        readonly answer: Answer;
      }
    | undefined;
  /** A placement to repeat. */
  lastPlaced: { readonly key: string; readonly pet: string } | undefined;

  constructor(name: string, key: Key, place: Workplace) {
    this.name = name;
    this.#key = key;
    this.place = place;
  }

  get key(): Key {
    return this.#key;
  }

  /** Uses another key from the next operation on; only while it waits. */
  use(key: Key): void {
    this.#key = key;
    // An Idempotency-Key belongs to an API key.
    this.lastPlaced = undefined;
  }

  /** @param inBurst what it does while `isBurst` */
  async run(actions: readonly Action[], inBurst: Action): Promise<void> {
    const { random, waiting, observed } = this.place;
    while (!this.place.isStopping) {
      if (this.place.pause !== undefined) {
        waiting.add(this);
        await this.place.pause;
        waiting.delete(this);
      }
      try {
        await (this.place.isBurst ? inBurst : random.pick(actions))(this);
      } catch (error) {
        observed.findings.push(`${this.name}: ${(error as Error).stack}`);
        // It waits from now on, so that the others need not wait for it.
        waiting.add(this);
        return;
      }
      if (random.chance(0.05)) await pause(random.below(AGAIN_MS));
    }
    this.#agent.destroy();
  }

  /** Notes an operation that was not made by `request`. */
  note(what: string, begin: number, end: number, effect: Effect): void {
    this.place.observed.add({ what: `${this.name}: ${what}`, begin, end, effect });
  }

  count(what: string): void {
    const { counts } = this.place;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }

  /** Sends a request to a node, and notes its effect. @returns the answer; undefined without one, or if it is 5xx */
  async request(
    what: string,
    call: Call,
    {
      changes = [],
      effectOf,
      refusal,
      target = this.place.random.pick(this.place.targets),
    }: Meaning,
  ): Promise<Answer | undefined> {
    const { observed, random, isCalm, isAnswered } = this.place;
    const begin = performance.now();
    const named = `${this.name} at ${target.name}: ${what}`;
    const kind = what.split(' ')[0]!;
    const note = (effect: Effect, end: number) => observed.add({ what: named, begin, end, effect });
    const unknown = async (outcome: string) => {
      this.count(`${kind} ${outcome}`);
      const isUnexplained = isCalm && this.place.isCalm && this.place.pause === undefined;
      if (isUnexplained) this.place.unexplained.push(`${named}: ${outcome}`);
      if (changes.length > 0) note({ type: 'unknown', changes }, Number.POSITIVE_INFINITY);
      await pause(random.below(AGAIN_MS));
      return undefined;
    };
    let answer: Answer;
    try {
      const sending = {
        host: target.host,
        port: target.port,
        agent: this.#agent,
        limitMs: LIMIT_MS,
      };
      answer = await send(sending, { secret: this.#key.secret, ...call });
    } catch {
      const isLate = performance.now() - begin >= LIMIT_MS;
      if (isLate && isAnswered && this.place.isAnswered)
        observed.findings.push(`${named} was not answered within ${LIMIT_MS} ms`);
      return unknown('unanswered');
    }
    const end = performance.now();
    if (random.chance(COMPARED)) checkAnswer(call.method, call.path, '', answer);
    const wrong = isWrong(answer, refusal);
    if (wrong) observed.findings.push(`${named} was answered ${answer.status}: ${answer.body}`);
    if (answer.status >= 500) return unknown(String(answer.status));
    this.count(`${kind} ${answer.status}`);
    if (wrong) return answer;
    if (call.method === 'GET' && call.path.startsWith('/v2/') && answer.status === 200) {
      const { etag } = answer.headers;
      if (etag !== undefined) {
        observed.sawEtag(`${call.path} ${etag}`, hash('sha256', answer.body), named);
        this.lastGet = { what, call, effectOf, answer };
      }
    }
    for (const effect of [effectOf(answer) ?? []].flat()) note(effect, end);
    return answer;
  }

  /** An order to change: every second time one of the latest. */
  anOrder(): string {
    const { hot, others, imported, random } = this.place;
    const older = others.length === 0 || random.chance(0.3) ? imported : others;
    return random.pick(hot.length === 0 || random.chance(0.5) ? older : hot);
  }

  /** Notes the ETag of an order. @returns what its record shows */
  sawOrder({ headers, body }: Answer, order: string): Effect & { readonly type: 'saw' } {
    const found = parse(body);
    const state = `order ${order}, ${found.status}, revision ${found.revision}, ${found.updatedAt}`;
    const etag = String(headers.etag);
    this.place.observed.sawEtag(`${order} ${etag}`, state, this.name);
    this.lastRead = { order, etag, status: found.status };
    return { type: 'saw', order, status: found.status, entry: entryOf(found) };
  }
}

function isWrong({ status, body }: Answer, refusal: Refusal | undefined): boolean {
  if (refusal === undefined || status >= 500) return WRONG.includes(status);
  return status !== refusal.status || parse(body).code !== refusal.code;
}

/** The state of an order that a refusal shows. */
export function refusedAs(body: string): string {
  return statusOf(parse(body).code);
}

export function statusOf(code: string): string {
  const known: Readonly<Record<string, string>> = {
    order_not_found: 'absent',
    order_already_cancelled: 'cancelled',
    order_already_shipped: 'shipped',
  };
  return known[code] ?? code;
}
