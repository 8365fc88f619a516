import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../process/program.ts';
import { REFUSED_WITHIN_MS, send } from '../http.ts';
import type { Random } from '../random.ts';
import { ACTIONS } from './actions/actions.ts';
import { placeAndCancel, placeAs } from './actions/place.ts';
import { list } from './actions/read.ts';
import type { Deployment, Fault, Replaced } from './deployment.ts';
import { commonRevision, type Past } from './eras.ts';
import { changesOf } from './feed.ts';
import {
  type Follower,
  followByClient,
  followStream,
  keepReplica,
  receiveWebhook,
} from './followers.ts';
import { Observed } from './operation.ts';
import type { Change } from './timeline.ts';
import { findingsIn, operationsOf } from './verdict.ts';
import { type Key, type Target, Worker, type Workplace } from './worker.ts';

const WORKERS = 10;
/** Workers that share a key whose cancels are limited. */
const LIMITED_WORKERS = 3;
const CANCELS_PER_HOUR = 10;
/** Beyond the integers that a Number can represent: an id that is rounded on its way would be another one. */
const FIRST_ID = 2n ** 53n + 1n;
const FIRST_PET = FIRST_ID;
const AGAIN_MS = 20;
const STARTS_WITHIN_MS = 30_000;
/**
 * Orders that are placed and cancelled while a stream is not read: their events, of 1,300 bytes each, are more than the service keeps for a stream
 * (256 KiB) and the systems at both ends buffer (about 400 KB).
 */
const BURST_ORDERS = 500;
const BURST_WITHIN_MS = 20_000;
/** After a fault has ended, every node must read and write again within this time. */
const WORKS_WITHIN_MS = 5_000;
/** Time after a fault until requests must not fail, and then without faults. */
const SETTLED_MS = 300;
const CALM_MS = 2_200;
/** Everything must have arrived everywhere after this time; a delivery that was refused is repeated after 5 s and 30 s. */
const CAUGHT_UP_WITHIN_MS = 60_000;
/** A run that has seen less is undecided. */
const MIN_OPERATIONS = 2_000;

/** One deployment under load and faults, until its time is over. */
export class Trial {
  readonly #deployment: Deployment;
  readonly #random: Random;
  readonly #report: (line: string) => void;
  readonly #place: Workplace;
  readonly #workers: Worker[] = [];
  readonly #findings: string[] = [];
  readonly #happened = new Map<string, number>();
  /** The histories that were replaced, with what clients saw of them. */
  readonly #past: Past[] = [];
  /** The keys whose cancels were limited, and until when that is checked, in milliseconds since the epoch. */
  readonly #limits: { readonly key: string; until: number | undefined }[] = [];
  #isWorking = false;
  #inheritedUpTo = 0;
  #slowestMs = 0;
  readonly #agent = new Agent();
  readonly #faults: readonly Fault[];

  constructor(deployment: Deployment, random: Random, report: (line: string) => void) {
    this.#deployment = deployment;
    this.#random = random;
    this.#report = report;
    const revocation = { name: 'a revoked key', happen: () => this.#revokeKey() };
    const burst = { name: 'a stream that falls behind', happen: () => this.#burst() };
    this.#faults = [...deployment.faults, revocation, burst];
    this.#place = {
      ...{
        random,
        observed: new Observed(),
        targets: deployment.nodes,
        database: deployment.database,
      },
      ...{ hot: [], others: [], counts: new Map(), nextPet: FIRST_PET },
      ...{ isBurst: false, isCalm: false, unexplained: [] },
      ...{ isStopping: false, isStopped: false, pause: undefined, waiting: new Set() },
    };
  }

  async run(forMs: number): Promise<TrialResult> {
    const until = performance.now() + forMs;
    const follower = await this.#newKey('follower');
    const prober = new Worker('prober', await this.#newKey('prober'), this.#place);
    await this.#expectWorking('the start', prober, STARTS_WITHIN_MS);
    await this.#importOrder();
    const { host } = this.#deployment;
    const webhook = await receiveWebhook(host, this.#place);
    webhook.isSignedWith(await this.#command(['webhooks', 'create', webhook.url]));
    const cancels = await receiveWebhook(host, this.#place, 'cancelled');
    const onlyCancels = ['--event', 'cancelled'];
    cancels.isSignedWith(await this.#command(['webhooks', 'create', cancels.url, ...onlyCancels]));
    const followers: Follower[] = [
      followStream(follower.secret, this.#place),
      followStream(follower.secret, this.#place, 'slow'),
      followStream(follower.secret, this.#place, 'placed'),
      followStream(follower.secret, this.#place, 'cancelled'),
      followByClient(follower.secret, this.#place),
      keepReplica(follower.secret, this.#place),
      webhook,
      cancels,
    ];
    for (let index = 1; index <= WORKERS; index += 1) {
      const key = await this.#newKey(`worker-${index}`);
      this.#workers.push(new Worker(`worker ${index}`, key, this.#place));
    }
    await this.#limitAnew();
    const working = this.#workers.map((worker) => worker.run(ACTIONS, placeAndCancel));
    this.#isWorking = true;
    await this.#haveFaults(until, prober);
    this.#place.isStopping = true;
    await Promise.all(working);
    const end = await changesOf(this.#deployment.database).catch((error: Error) => {
      this.#findings.push(`in the end, ${error.message}`);
    });
    if (end && this.#findings.length === 0) await this.#catchUp(followers, end.changes);
    this.#place.isStopped = true;
    await this.#check();
    return this.#result(end?.changes, followers);
  }

  /** Imports an order with FIRST_ID, after which the ids of all others come. */
  async #importOrder(): Promise<void> {
    const [order, pet] = [String(FIRST_ID), String(this.#place.nextPet++)];
    const begin = performance.now();
    await this.#command(['import', '-'], `{"id":${order},"petId":${pet},"quantity":1}\n`);
    const effect = { type: 'placed', order, pet, isRepeated: false } as const;
    this.#place.observed.add({ what: 'an import', begin, end: performance.now(), effect });
  }

  /** One fault after another, each kind before any comes again. */
  async #haveFaults(until: number, prober: Worker): Promise<void> {
    let left: Fault[] = [];
    while (performance.now() < until && this.#findings.length === 0) {
      if (left.length === 0) left = this.#random.shuffled(this.#faults);
      const fault = left.pop()!;
      await pause(SETTLED_MS);
      this.#place.isCalm = true;
      await pause(this.#random.below(CALM_MS));
      this.#place.isCalm = false;
      const during = {
        random: this.#random,
        replaceHistory: (replace: () => Promise<Replaced>) => this.#replaceHistory(replace, prober),
        beforeWrongClock: () => this.#endLimit(),
      };
      await fault.happen(during).catch((error: Error) => {
        this.#findings.push(`during ${fault.name}: ${error.stack}`);
      });
      this.#happened.set(fault.name, (this.#happened.get(fault.name) ?? 0) + 1);
      await this.#expectWorking(fault.name, prober, WORKS_WITHIN_MS);
      // Several requests at once are tried at the limit, which is reached within seconds.
      this.#endLimit();
      await this.#limitAnew();
    }
  }

  /** From now on, the limit of the last key is not checked. */
  #endLimit(): void {
    this.#limits.at(-1)!.until ??= Date.now();
  }

  /** Has some workers share a new key whose cancels are limited. */
  async #limitAnew(): Promise<void> {
    const name = `limited-${this.#limits.length + 1}`;
    const key = await this.#newKey(name, ['--cancels-per-hour', String(CANCELS_PER_HOUR)]);
    this.#limits.push({ key: key.id, until: undefined });
    const use = async () => {
      for (const worker of this.#workers.slice(0, LIMITED_WORKERS)) worker.use(key);
    };
    await (this.#isWorking ? this.#whilePaused(use) : use());
  }

  /** Runs `use` while no worker does anything. */
  async #whilePaused(use: () => Promise<void>): Promise<void> {
    let go = () => {};
    this.#place.pause = new Promise((resolve) => {
      go = resolve;
    });
    while (this.#place.waiting.size < this.#workers.length) await pause(AGAIN_MS);
    try {
      await use();
    } finally {
      this.#place.pause = undefined;
      go();
    }
  }

  /** Every node lists and places orders again. */
  async #expectWorking(after: string, prober: Worker, withinMs: number): Promise<void> {
    const began = performance.now();
    const attempts = this.#deployment.nodes.map(async (node) => {
      while (!(await works(prober, node))) {
        if (performance.now() - began > withinMs)
          return `${node.name} did not work ${withinMs} ms after ${after}`;
        await pause(AGAIN_MS);
      }
      return undefined;
    });
    const failed = (await Promise.all(attempts)).filter((each) => each !== undefined);
    this.#findings.push(...failed);
    if (withinMs !== STARTS_WITHIN_MS)
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
  }

  /** See During. */
  async #replaceHistory(replace: () => Promise<Replaced>, prober: Worker): Promise<void> {
    this.#endLimit();
    await this.#whilePaused(async () => {
      const { changes, cursor } = await replace();
      const { observed } = this.#place;
      this.#past.push({ changes, observed, inheritedUpTo: this.#inheritedUpTo });
      this.#place.observed = new Observed(observed);
      await this.#expectWorking('the history was replaced', prober, STARTS_WITHIN_MS);
      const now = await changesOf(this.#deployment.database);
      this.#inheritedUpTo = commonRevision(changes, now.changes);
      if (cursor === undefined) return;
      const isLost = (changes.at(-1)?.revision ?? 0) > this.#inheritedUpTo;
      const path = `/v2/store/changes?after=${cursor}`;
      const what = 'a cursor of the history before';
      await this.#expectStatus(isLost ? 410 : 200, what, path, prober.key.secret);
    });
  }

  /** Every node answers a request with a status. @param what the request has, for the finding */
  async #expectStatus(expected: number, what: string, path: string, secret: string): Promise<void> {
    for (const { name, host, port } of this.#deployment.nodes) {
      const sending = { host, port, agent: this.#agent, limitMs: STARTS_WITHIN_MS };
      const { status } = await send(sending, { method: 'GET', path, secret });
      if (status !== expected)
        this.#findings.push(`${name} answered ${what} with ${status}, not ${expected}`);
    }
  }

  /** A key is good at every node, and a second after it was revoked at none; its streams have ended then. */
  async #revokeKey(): Promise<void> {
    const { id, secret } = await this.#newKey(`short ${performance.now()}`);
    await this.#expectStatus(200, 'a new key', '/v1/store/orders', secret);
    const streams = await Promise.all(
      this.#deployment.nodes.map((node) => openStream(node, secret)),
    );
    await this.#command(['keys', 'revoke', id]);
    await pause(REFUSED_WITHIN_MS);
    for (const { name, hasEnded, close } of streams) {
      if (!hasEnded()) this.#findings.push(`${name} continued the stream of a revoked key`);
      close();
    }
    await this.#expectStatus(401, 'a revoked key', '/v1/store/orders', secret);
  }

  /** The feed grows so fast that a stream which is not read meanwhile falls behind. */
  async #burst(): Promise<void> {
    const { nextPet } = this.#place;
    const until = performance.now() + BURST_WITHIN_MS;
    this.#place.isBurst = true;
    while (this.#place.nextPet < nextPet + BigInt(BURST_ORDERS) && performance.now() < until)
      await pause(AGAIN_MS);
    this.#place.isBurst = false;
    const placed = Number(this.#place.nextPet - nextPet);
    if (placed < BURST_ORDERS)
      throw new Error(`only ${placed} orders were placed in ${BURST_WITHIN_MS} ms`);
  }

  async #catchUp(followers: readonly Follower[], changes: readonly Change[]): Promise<void> {
    const until = performance.now() + CAUGHT_UP_WITHIN_MS;
    const lastFor = ({ only }: Follower) =>
      changes.findLast(({ type }) => type === (only ?? type))?.revision ?? 0;
    const behind = () => followers.filter((each) => each.revision() < lastFor(each));
    while (behind().length > 0 && performance.now() < until) await pause(AGAIN_MS);
    for (const each of behind()) {
      this.#findings.push(
        `${each.name} has only received revision ${each.revision()} of ${lastFor(each)}`,
      );
    }
  }

  /** The store is consistent in itself. */
  async #check(): Promise<void> {
    const { database, env } = this.#deployment;
    const { code, stdout, stderr } = await run(['check', '--database', database], { env });
    if (code !== 0) this.#findings.push(`check ended with ${code}: ${stdout}${stderr}`);
  }

  /** @param feed all changes; undefined if they could not be read */
  #result(feed: readonly Change[] | undefined, followers: readonly Follower[]): TrialResult {
    const changes = feed ?? [];
    const last = { changes, observed: this.#place.observed, inheritedUpTo: this.#inheritedUpTo };
    const histories = [...this.#past, last];
    const { unexplained, counts } = this.#place;
    const limited = this.#limits.map((each) => ({ ...each, cancels: CANCELS_PER_HOUR }));
    const seen = { findings: this.#findings, histories, isComplete: feed !== undefined };
    const findings = findingsIn({ ...seen, limited, unexplained, followers });
    const operations = operationsOf(histories);
    const faults = [...this.#happened.values()].reduce((sum, count) => sum + count, 0);
    const missing = this.#faults.filter(({ name }) => !this.#happened.has(name));
    const undecided =
      operations < MIN_OPERATIONS || missing.length > 0
        ? `${operations} operations; no ${missing.map(({ name }) => name).join(', ') || 'fault is missing'}`
        : undefined;
    const seconds = (this.#slowestMs / 1_000).toFixed(1);
    for (const [name, count] of this.#happened) this.#report(`  ${name}: ${count}`);
    for (const [name, count] of [...counts].sort()) this.#report(`  ${name}: ${count}`);
    this.#report(`  failed although nothing was wrong: ${unexplained.length}`);
    const summary =
      `${operations} operations, ${changes.length} changes, ${histories.length} histories, ${faults} faults, ` +
      `working again after ${seconds} s at most`;
    return { operations, findings, undecided, summary };
  }

  async #newKey(name: string, flags: readonly string[] = []): Promise<Key> {
    const secret = await this.#command(['keys', 'create', '--name', name, ...flags]);
    const listed = JSON.parse(await this.#command(['keys', 'list', '--json']));
    return { id: listed.find((key: { name: string }) => key.name === name).id, secret };
  }

  async #command(args: readonly string[], input?: string): Promise<string> {
    const { database, env } = this.#deployment;
    const { code, stdout, stderr } = await run([...args, '--database', database], { env, input });
    if (code !== 0) throw new Error(`${args.join(' ')} failed: ${stderr}`);
    return stdout.trim();
  }
}

/** Whether a node lists and places orders. */
async function works(prober: Worker, node: Target): Promise<boolean> {
  const listed = await list(prober, node);
  const pet = String(prober.place.nextPet++);
  const placed = await placeAs(prober, { key: `k${pet}`, pet }, node);
  return listed?.status === 200 && placed?.status === 201;
}

/** Opens a stream of changes, and discards them. */
async function openStream({ name, host, port }: Target, secret: string) {
  const ending = new AbortController();
  const response = await fetch(`http://${host}:${port}/v2/store/changes/stream?after=now`, {
    headers: { authorization: `Bearer ${secret}` },
    signal: ending.signal,
  });
  if (response.status !== 200) throw new Error(`${name} answered a stream ${response.status}`);
  let hasEnded = false;
  const note = () => {
    hasEnded = true;
  };
  response.body!.pipeTo(new WritableStream()).then(note, note);
  return { name, hasEnded: () => hasEnded, close: () => ending.abort() };
}

export interface TrialResult {
  readonly operations: number;
  readonly findings: readonly string[];
  /** Why the run shows too little, if it does. */
  readonly undecided: string | undefined;
  readonly summary: string;
}
