import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../process/program.ts';
import { succeed } from '../command.ts';
import { parse } from '../http.ts';
import { isChosen, type PartOptions } from '../part.ts';
import type { Random } from '../random.ts';
import { ACTIONS } from './actions/actions.ts';
import { cancelInBatch, cancelV2 } from './actions/change.ts';
import { placeAndCancel, placeAs } from './actions/place.ts';
import { list } from './actions/read.ts';
import type { Deployment, Fault, Replaced } from './deployment.ts';
import { acknowledgedAfter, commonRevision, type Past } from './eras.ts';
import { changesOf } from './feed.ts';
import { type Follower, followByClient, followStream, keepReplica } from './followers.ts';
import { importFirstOrders } from './imports.ts';
import { manageKeys } from './key-manager.ts';
import { Observed } from './operation.ts';
import { type Receiver, receiveWebhook, refuseWebhook } from './receivers.ts';
import { relay } from './relay.ts';
import { expectStatus, SERVED, storeFaults } from './store-faults.ts';
import type { Change } from './timeline.ts';
import { findingsIn, operationsOf, type Seen } from './verdict.ts';
import { type Key, type Target, Worker, type Workplace } from './worker.ts';

const WORKERS = 10;
/** Workers that share a key whose cancels are limited. */
const LIMITED_WORKERS = 3;
const CANCELS_PER_HOUR = 10;
/** Cancels that each of them sends at the same time when the key is new: together more than it may make. */
const CANCELS_AT_ONCE = 8;
/** Beyond the integers that a Number can represent: one that is rounded on its way would be another one. */
const FIRST_PET = 2n ** 53n + 1n;
const AGAIN_MS = 20;
/** Share of what nodes send by a lossy network that is lost. */
const LOST = 0.15;
/** For so long at most, connections are refused after it has lost something: longer than a client waits before its first repetition. */
const REFUSED_MS = 400;
const STARTS_WITHIN_MS = 30_000;
/** What is late by more than this does not come any more. */
const NEVER_MS = 30_000;
/** After a fault has ended and all processes run, every node must read and write again within this time. */
const WORKS_WITHIN_MS = 5_000;
/** Webhooks must get deliveries again after this time: a node that cannot hand them over has a lease of them. */
const LEASED_MS = 15_000;
/** After a clock is wrong, two nodes may deliver for so long. */
const LEASED_TWICE_MS = 20_000;
/** Time after a fault until requests must not fail, and then without faults. */
const SETTLED_MS = 300;
const CALM_MS = 2_200;
/** Everything must have arrived everywhere after this time; a delivery that was refused is repeated after 5 s and 30 s. */
const CAUGHT_UP_WITHIN_MS = 60_000;
/** What was seen is first checked after this time, and then whenever the time has doubled: a run ends early if it contradicts the feed. */
const FIRST_CHECK_MS = 6_000;
/** Deliveries to an endpoint that asks for a pause of a day, of which the service grants an hour: a wrong clock and another history permit another one. */
const MOST_REFUSED = 30;
/** A run that has seen less is undecided. */
const MIN_OPERATIONS = 5_000;

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
  #isContradicted = false;
  #inheritedUpTo = 0;
  #slowestMs = 0;
  readonly #webhooks: Receiver[] = [];
  readonly #faults: readonly Fault[];

  constructor(
    deployment: Deployment,
    random: Random,
    { fault, report }: Pick<PartOptions, 'fault' | 'report'>,
  ) {
    this.#deployment = deployment;
    this.#random = random;
    this.#report = report;
    this.#place = {
      ...{
        random,
        observed: new Observed(),
        targets: deployment.nodes,
        database: deployment.database,
      },
      ...{ hot: [], others: [], imported: [], counts: new Map(), nextPet: FIRST_PET },
      ...{ isBurst: false, isCalm: false, isAnswered: false, unexplained: [] },
      oneDelivererFrom: 0,
      ...{ isStopping: false, isStopped: false, pause: undefined, waiting: new Set() },
    };
    const store = {
      ...{ deployment, place: this.#place, webhooks: this.#webhooks },
      command: (args: readonly string[]) => this.#command(args),
      newKey: (name: string, flags?: readonly string[]) => this.#newKey(name, flags),
      whilePaused: (use: () => Promise<void>) => this.#whilePaused(use),
      find: (finding: string) => this.#findings.push(finding),
    };
    const common = deployment.hasOwnFaultsOnly ? [] : storeFaults(store);
    const faults = [...deployment.faults, ...common];
    this.#faults = faults.filter(({ name }) => isChosen(name, fault));
    if (this.#faults.length === 0) throw new Error(`no fault is named ${fault}`);
  }

  async run(forMs: number): Promise<TrialResult> {
    const until = performance.now() + forMs;
    this.#place.lossy = await this.#lossyNetwork();
    const follower = await this.#newKey('follower');
    const prober = new Worker('prober', await this.#newKey('prober'), this.#place);
    await this.#expectWorking('the start', prober, STARTS_WITHIN_MS);
    for (const { name, failures } of this.#deployment.nodes)
      if (failures > 0) this.#findings.push(`${name} ended with an error when it was started`);
    await importFirstOrders(this.#place, this.#deployment.env);
    for (const only of [undefined, 'cancelled', 'shipped']) await this.#newWebhook(only);
    const refusing = await refuseWebhook(this.#deployment.host);
    await this.#command(['webhooks', 'create', refusing.url]);
    const followers: Follower[] = [
      followStream(follower.secret, this.#place),
      followStream(follower.secret, this.#place, { isSlow: true }),
      followStream(follower.secret, this.#place, { only: 'placed' }),
      ...[undefined, undefined, 'cancelled', 'cancelled'].map((only) =>
        followStream(follower.secret, this.#place, { only, isRestless: true }),
      ),
      followByClient(follower.secret, this.#place),
      keepReplica(follower.secret, this.#place),
      ...this.#webhooks,
    ];
    for (let index = 1; index <= WORKERS; index += 1) {
      const key = await this.#newKey(`worker-${index}`);
      this.#workers.push(new Worker(`worker ${index}`, key, this.#place));
    }
    await this.#limitAnew();
    const working = this.#workers.map((worker) => worker.run(ACTIONS, placeAndCancel));
    const scopes = ['--scope', 'keys:manage', '--scope', 'orders:read'];
    working.push(manageKeys(await this.#newKey('manager', scopes), this.#place));
    this.#isWorking = true;
    await this.#haveFaults(until, prober);
    this.#place.isStopping = true;
    await Promise.all(working);
    const end = await changesOf(this.#deployment.database).catch((error: Error) => {
      this.#findings.push(`in the end, ${error.message}`);
    });
    const isOver = this.#isContradicted || this.#findings.length > 0;
    if (end && !isOver) await this.#catchUp(followers, end.changes);
    this.#place.isStopped = true;
    if (refusing.deliveries() > MOST_REFUSED) {
      const times = refusing.deliveries();
      this.#findings.push(`a webhook that asked for a pause of a day got ${times} deliveries`);
    }
    await this.#check();
    return this.#result(end?.changes, followers);
  }

  /** An address of any node, by a network that loses some of the responses. */
  async #lossyNetwork(): Promise<Target> {
    const port = await relay(() => this.#random.pick(this.#deployment.nodes), {
      loses: () => this.#random.chance(LOST),
      refusesMs: () => this.#random.below(REFUSED_MS),
    });
    return { name: 'a node by a lossy network', host: '127.0.0.1', port };
  }

  async #newWebhook(only: string | undefined): Promise<void> {
    const webhook = await receiveWebhook(this.#deployment.host, this.#place, only);
    const event = only === undefined ? [] : ['--type', only];
    webhook.isSignedWith(await this.#command(['webhooks', 'create', webhook.url, ...event]));
    this.#webhooks.push(webhook);
  }

  /** One fault after another, each kind before any comes again. */
  async #haveFaults(until: number, prober: Worker): Promise<void> {
    let left: Fault[] = [];
    const began = performance.now();
    let nextCheck = began + FIRST_CHECK_MS;
    while (performance.now() < until && this.#findings.length === 0 && !this.#isContradicted) {
      if (left.length === 0) left = this.#random.shuffled(this.#faults);
      const fault = left.pop()!;
      await pause(SETTLED_MS);
      this.#place.isCalm = true;
      await pause(this.#random.below(CALM_MS));
      this.#place.isCalm = false;
      const during = {
        random: this.#random,
        replaceHistory: (replace: () => Promise<Replaced>) => this.#replaceHistory(replace, prober),
        beforeWrongClock: () => {
          this.#endLimit();
          this.#place.oneDelivererFrom = performance.now() + LEASED_TWICE_MS;
        },
        othersWork: (than: Target) =>
          this.#expectWorking(
            `${than.name} hangs`,
            prober,
            WORKS_WITHIN_MS,
            this.#deployment.nodes.filter((node) => node !== than),
          ),
      };
      this.#place.isAnswered = fault.isAnswered ?? false;
      await fault.happen(during).catch((error: Error) => {
        this.#findings.push(`during ${fault.name}: ${error.stack}`);
      });
      this.#place.isAnswered = false;
      this.#happened.set(fault.name, (this.#happened.get(fault.name) ?? 0) + 1);
      const running = Promise.all(this.#deployment.nodes.map(({ runs }) => runs));
      await Promise.race([running, pause(STARTS_WITHIN_MS)]);
      await this.#expectWorking(fault.name, prober, WORKS_WITHIN_MS);
      await this.#expectDeliveries(fault.name, fault.deliversWithinMs ?? LEASED_MS);
      // Several requests at once are tried at the limit, which is reached within seconds.
      this.#endLimit();
      await this.#limitAnew().catch((error: Error) => {
        this.#findings.push(`after ${fault.name}: ${error.message}`);
      });
      if (performance.now() < nextCheck) continue;
      await this.#whilePaused(() => this.#checkSoFar());
      nextCheck = began + 2 * (performance.now() - began);
    }
  }

  /** Whether what was seen until now contradicts the feed. Only ends the load: requests without an answer may still be carried out. */
  async #checkSoFar(): Promise<void> {
    try {
      const { changes } = await changesOf(this.#deployment.database);
      this.#isContradicted = findingsIn(this.#seen(changes, [])).length > 0;
    } catch (error) {
      this.#findings.push((error as Error).message);
    }
  }

  /** From now on, the limit of the last key is not checked. */
  #endLimit(): void {
    this.#limits.at(-1)!.until ??= Date.now();
  }

  /** Has some workers share a new key whose cancels are limited, and reach the limit at once. */
  async #limitAnew(): Promise<void> {
    const name = `limited-${this.#limits.length + 1}`;
    const key = await this.#newKey(name, ['--cancels-per-hour', String(CANCELS_PER_HOUR)]);
    this.#limits.push({ key: key.id, until: undefined });
    const limited = this.#workers.slice(0, LIMITED_WORKERS);
    const use = async () => {
      for (const worker of limited) worker.use(key);
    };
    await (this.#isWorking ? this.#whilePaused(use) : use());
    const several = limited.flatMap((worker) => Array<Worker>(CANCELS_AT_ONCE).fill(worker));
    await Promise.all(
      several.map((worker) => cancelV2(worker, this.#random.pick(this.#place.imported))),
    );
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

  /** Nodes list, place and change orders again; by default all. */
  async #expectWorking(
    after: string,
    prober: Worker,
    withinMs: number,
    nodes: readonly Target[] = this.#deployment.nodes,
  ): Promise<void> {
    const began = performance.now();
    const attempts = nodes.map((node) =>
      whetherInTime(() => works(prober, node), withinMs, {
        late: `${node.name} did not work ${withinMs} ms after ${after}`,
        never: `${node.name} has stopped working after ${after}`,
      }),
    );
    const failed = (await Promise.all(attempts)).filter((each) => each !== undefined);
    this.#findings.push(...failed);
    if (withinMs !== STARTS_WITHIN_MS)
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
  }

  /** Webhooks get deliveries again; one of them may wait, since its endpoint has refused a delivery. */
  async #expectDeliveries(after: string, withinMs: number): Promise<void> {
    const before = this.#webhooks.map(({ revision }) => revision());
    const delivers = async () =>
      this.#webhooks.some(({ revision }, index) => revision() > before[index]!);
    const finding = await whetherInTime(delivers, withinMs, {
      late: `no webhook got a delivery ${withinMs} ms after ${after}`,
      never: `deliveries of webhooks have stopped after ${after}`,
    });
    if (finding !== undefined) this.#findings.push(finding);
  }

  /** See During. */
  async #replaceHistory(replace: () => Promise<Replaced>, prober: Worker): Promise<void> {
    this.#endLimit();
    await this.#whilePaused(async () => {
      const { changes, cursor, keepsAcknowledged } = await replace();
      const { observed } = this.#place;
      this.#past.push({ changes, observed, inheritedUpTo: this.#inheritedUpTo });
      this.#place.observed = new Observed(observed);
      await this.#expectWorking('the history was replaced', prober, STARTS_WITHIN_MS);
      const now = await changesOf(this.#deployment.database);
      this.#inheritedUpTo = commonRevision(changes, now.changes);
      if (keepsAcknowledged)
        this.#findings.push(...acknowledgedAfter(this.#inheritedUpTo, changes, observed));
      if (cursor === undefined) return;
      const isLost = (changes.at(-1)?.revision ?? 0) > this.#inheritedUpTo;
      const path = `/v2/store/changes?after=${cursor}`;
      const what = 'a cursor of the history before';
      const { secret } = prober.key;
      const find = (finding: string) => this.#findings.push(finding);
      const store = { deployment: this.#deployment, find };
      await expectStatus(store, isLost ? 410 : 200, what, { path, secret });
    });
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

  /** What was seen until now. @param feed all changes; undefined if they could not be read */
  #seen(feed: readonly Change[] | undefined, followers: readonly Follower[]): Seen {
    const changes = feed ?? [];
    const last = { changes, observed: this.#place.observed, inheritedUpTo: this.#inheritedUpTo };
    return {
      ...{ findings: this.#findings, histories: [...this.#past, last], followers },
      ...{ isComplete: feed !== undefined, unexplained: this.#place.unexplained },
      limited: this.#limits.map((each) => ({ ...each, cancels: CANCELS_PER_HOUR })),
    };
  }

  /** @param feed all changes; undefined if they could not be read */
  #result(feed: readonly Change[] | undefined, followers: readonly Follower[]): TrialResult {
    const { unexplained, counts } = this.#place;
    const seen = this.#seen(feed, followers);
    const { histories } = seen;
    const findings = findingsIn(seen);
    const operations = operationsOf(histories);
    const faults = [...this.#happened.values()].reduce((sum, count) => sum + count, 0);
    const missing = this.#faults.filter(({ name }) => !this.#happened.has(name));
    const lacks = [
      ...(operations < MIN_OPERATIONS
        ? [`${operations} operations of at least ${MIN_OPERATIONS}`]
        : []),
      ...missing.map(({ name }) => `without ${name}`),
    ];
    const undecided = lacks.length === 0 ? undefined : lacks.join(', ');
    const seconds = (this.#slowestMs / 1_000).toFixed(1);
    for (const [name, count] of this.#happened) this.#report(`  ${name}: ${count}`);
    for (const [name, count] of [...counts].sort()) this.#report(`  ${name}: ${count}`);
    this.#report(`  failed although nothing was wrong: ${unexplained.length}`);
    const summary =
      `${operations} operations, ${feed?.length ?? 0} changes, ${histories.length} histories, ${faults} faults, ` +
      `working again after ${seconds} s at most`;
    return { operations, findings, undecided, summary };
  }

  async #newKey(name: string, flags: readonly string[] = []): Promise<Key> {
    const secret = await this.#command(['keys', 'create', '--name', name, ...flags]);
    const listed = JSON.parse(await this.#command(['keys', 'list', '--json']));
    return { id: listed.find((key: { name: string }) => key.name === name).id, secret };
  }

  #command(args: readonly string[]): Promise<string> {
    const { database, env } = this.#deployment;
    return succeed([...args, '--database', database], { env });
  }
}

/**
 * Waits until something is so. Never is another finding than late, which a busy machine can be the reason for.
 * @returns the finding, if there is one
 */
async function whetherInTime(
  isSo: () => Promise<boolean>,
  withinMs: number,
  { late, never }: { readonly late: string; readonly never: string },
): Promise<string | undefined> {
  const began = performance.now();
  while (!(await isSo())) {
    if (performance.now() - began > withinMs + NEVER_MS) return never;
    await pause(AGAIN_MS);
  }
  return performance.now() - began > withinMs ? late : undefined;
}

/** Whether a node answers reads of every kind, places orders, and changes several at once. */
async function works(prober: Worker, node: Target): Promise<boolean> {
  const meaning = { effectOf: () => undefined, target: node };
  const reads = SERVED.map((path) => prober.request('probe', { method: 'GET', path }, meaning));
  if ((await Promise.all(reads)).includes(undefined)) return false;
  const listed = await list(prober, node);
  const pet = String(prober.place.nextPet++);
  const placed = await placeAs(prober, { key: `k${pet}`, pet }, node);
  if (listed?.status !== 200 || placed?.status !== 201) return false;
  const cancelled = await cancelInBatch(prober, String(parse(placed.body).id), node);
  return cancelled?.status === 200;
}

export interface TrialResult {
  readonly operations: number;
  readonly findings: readonly string[];
  /** Why the run shows too little, if it does. */
  readonly undecided: string | undefined;
  readonly summary: string;
}
