import { setTimeout as pause } from 'node:timers/promises';
import { GoneError, StoreOrders } from '../../../client/src/client.ts';
import { type Json, parse } from '../http.ts';
import type { Observed, Operation, Received } from './operation.ts';
import { entryOf } from './record.ts';
import { changeOf, type Timeline, textOf } from './timeline.ts';
import type { Target, Workplace } from './worker.ts';

const AGAIN_MS = 100;
/** Share of what is received after which a follower continues at another node, so that it often begins while changes are made. */
const ENDED = 0.1;
/** That of a restless one, and how soon it continues. */
const ENDED_RESTLESS = 0.6;
const RESTLESS_MS = 10;

/** Something that receives the changes of the store until it is stopped. */
export interface Follower {
  readonly name: string;
  /** The type of the changes that it receives, if not all. */
  readonly only?: string | undefined;
  /** The last revision that it has received. */
  readonly revision: () => number;
  /** What differs from the history, once it has caught up; undefined if it keeps no orders. */
  readonly differences?: (timeline: Timeline) => string[];
}

/** Notes what a follower receives: in one run without gaps, until it begins again in another history. */
export class Notes {
  readonly what: string;
  readonly #place: Workplace;
  #observed: Observed | undefined;
  #received: Received | undefined;
  /** The history in which something was received last. */
  #receivedIn: Observed | undefined;
  revision = 0;

  constructor(what: string, place: Workplace) {
    this.what = what;
    this.#place = place;
  }

  /** @param only the type of the changes that follow, if not all do */
  begin(after: number, only?: string): void {
    this.revision = after;
    this.#received = {
      ...{ what: this.what, after, changes: [], isLate: false },
      only: only === undefined ? undefined : { type: only },
    };
    this.#observed = this.#place.observed;
    this.#observed.received.push(this.#received);
  }

  /** Whether the store has continued with another history since `begin`. */
  get isOfAnotherHistory(): boolean {
    return this.#observed !== this.#place.observed;
  }

  /** The last cursor was answered with 410, which must not be if it is one of the history that is served. */
  gone(cursor: string | undefined): void {
    const { observed, pause: replacement } = this.#place;
    if (this.#receivedIn !== observed || replacement !== undefined) return;
    observed.findings.push(`${this.what}: the cursor ${cursor} is gone`);
  }

  /** @param change as the feed shows it */
  add(change: Json): void {
    const revision = Number(change.revision);
    this.#received!.changes.push(textOf(changeOf(change)));
    this.revision = revision;
    if (this.isOfAnotherHistory) {
      this.#received!.isLate = true;
      return;
    }
    this.#receivedIn = this.#observed;
    const now = performance.now();
    const effect = { type: 'received', revision } as const;
    this.#place.observed.add({
      ...{ what: `${this.what} received revision ${revision}`, begin: now, end: now, effect },
    });
  }
}

interface StreamOptions {
  /** The type of the changes that it receives, if not all. */
  readonly only?: string | undefined;
  /** Reads nothing during a burst, so that it falls behind. */
  readonly isSlow?: boolean;
  /** Ends after most of what it receives, and begins again at once. */
  readonly isRestless?: boolean;
}

/** Reads the stream of server-sent events, at another node after each end; now and then it ends itself. */
export function followStream(
  secret: string,
  place: Workplace,
  { only, isSlow = false, isRestless = false }: StreamOptions = {},
): Follower {
  const kind = isSlow ? 'slow ' : isRestless ? 'restless ' : '';
  const notes = new Notes(
    only === undefined ? `a ${kind}stream` : `a ${kind}stream of ${only} orders`,
    place,
  );
  const path = `/v2/store/changes/stream?after=start${only === undefined ? '' : `&type=${only}`}`;
  let lastEventId: string | undefined;
  const read = async () => {
    if (lastEventId === undefined) notes.begin(0, only);
    else if (notes.isOfAnotherHistory) notes.begin(revisionOf(lastEventId), only);
    const { host, port } = place.random.pick(place.targets);
    const response = await fetch(`http://${host}:${port}${path}`, {
      headers: {
        authorization: `Bearer ${secret}`,
        ...(lastEventId && { 'last-event-id': lastEventId }),
      },
    });
    if (response.status === 410) {
      notes.gone(lastEventId);
      lastEventId = undefined;
      return;
    }
    if (response.status !== 200) throw new Error(`the stream was answered ${response.status}`);
    // The events of a revision count once its id has arrived.
    let revision: Json[] = [];
    let rest = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      if (place.isStopped) return;
      const events = (rest + chunk).split('\n\n');
      rest = events.pop()!;
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) revision.push(parse(data));
        const id = /^id: (.*)$/m.exec(event)?.[1];
        if (id === undefined) continue;
        for (const change of revision) notes.add(change);
        revision = [];
        lastEventId = id;
      }
      while (isSlow && place.isBurst) await pause(AGAIN_MS);
      // A revision counts as a whole: without all of it, a stream that ends would begin with the same one again.
      const mayEnd = !isSlow && revision.length === 0;
      if (mayEnd && place.random.chance(isRestless ? ENDED_RESTLESS : ENDED)) return;
    }
  };
  const againMs = isRestless ? RESTLESS_MS : AGAIN_MS;
  void untilStopped(place, read, { againMs });
  return { name: notes.what, only, revision: () => notes.revision };
}

/** Follows by the client library, which verifies the heads. */
export function followByClient(secret: string, place: Workplace): Follower {
  const notes = new Notes('the client', place);
  let after: string | undefined;
  const read = async () => {
    if (after === undefined) notes.begin(0);
    else if (notes.isOfAnotherHistory) notes.begin(revisionOf(after));
    try {
      for await (const batch of clientAt(place.random.pick(place.targets), secret).changes({
        after: after ?? 'start',
      })) {
        for (const change of batch.changes) notes.add(change);
        after = batch.cursor;
        if (place.isStopped) return;
        if (place.random.chance(ENDED)) return;
      }
    } catch (error) {
      if (!(error instanceof GoneError)) throw error;
      notes.gone(after);
      after = undefined;
    }
  };
  void untilStopped(place, read, {
    onError: (error) => place.observed.findings.push(`the client: ${error.stack}`),
  });
  return { name: notes.what, revision: () => notes.revision };
}

/** Keeps a copy of all orders by the client library. */
export function keepReplica(secret: string, place: Workplace): Follower {
  const state = { revision: 0, orders: new Map<string, string>() };
  const read = async () => {
    const { observed } = place;
    const client = clientAt(place.random.pick(place.targets), secret);
    for await (const { orders, revision } of client.replica()) {
      state.orders = new Map(
        [...orders.values()].map((order) => [String(order.id), entryOf(order)]),
      );
      state.revision = Number(revision);
      if (place.isStopped) return;
      if (place.isStopping || !place.random.chance(ENDED)) continue;
      // It begins with a new copy, also while changes are made; what it has now is compared with the whole store, as it was at any time before.
      if (place.observed === observed) observed.add(wholeStore(state));
      return;
    }
  };
  void untilStopped(place, read, {
    onError: (error) => place.observed.findings.push(`the replica: ${error.stack}`),
  });
  const differences = (timeline: Timeline) => {
    const wrong = timeline.ordersAt(timeline.last).filter((each) => {
      return state.orders.get(each.split(':')[0]!) !== each;
    });
    if (wrong.length === 0) return [];
    return [`the replica differs at revision ${state.revision} in ${wrong.slice(0, 3).join(', ')}`];
  };
  return { name: 'the replica', revision: () => state.revision, differences };
}

/** What a replica has, as a page of all orders. */
function wholeStore({
  revision,
  orders,
}: {
  readonly revision: number;
  readonly orders: ReadonlyMap<string, string>;
}): Operation {
  const all = [...orders].map(([id, entry]) => ({ id: BigInt(id), entry }));
  all.sort((one, other) => (one.id < other.id ? -1 : 1));
  return {
    ...{ what: 'the replica', begin: 0, end: performance.now() },
    effect: {
      ...{ type: 'page', revision, head: undefined, hasNext: false },
      ...{ after: undefined, limit: Number.MAX_SAFE_INTEGER, sort: 'id', isDescending: false },
      orders: all.map(({ entry }) => entry).join(' '),
    },
  };
}

/** Of a cursor. */
export function revisionOf(cursor: string): number {
  return Number(cursor.split('-')[0]);
}

function clientAt({ host, port }: Target, secret: string): StoreOrders {
  return new StoreOrders({ baseUrl: `http://${host}:${port}`, apiKey: secret });
}

/** Repeats `read`, whose end or failure is that of a node, until the test ends. */
async function untilStopped(
  place: Workplace,
  read: () => Promise<void>,
  {
    onError = () => {},
    againMs = AGAIN_MS,
  }: { readonly onError?: (error: Error) => void; readonly againMs?: number },
): Promise<void> {
  while (!place.isStopped) {
    try {
      await read();
    } catch (error) {
      if (place.isStopped) return;
      onError(error as Error);
    }
    await pause(againMs);
  }
}
