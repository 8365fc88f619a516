import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Position, positionText } from '../../protocol/history.ts';
import { follow, LiveFeed, PositionLost, SharedReads } from '../../src/feed/follow.ts';
import { type ChangePage, type FeedStart, MAX_CHANGES } from '../../src/store/feed.ts';
import { type Store, StoreUnavailable } from '../../src/store/store.ts';
import { until } from '../postgres.ts';
import { place, testStore } from '../store/engines.ts';

/** Places orders, in one revision. */
const placeAll = (store: Store, ...ids: bigint[]) =>
  store.apply(ids.map((id) => place({ id, status: 'pending' })));

function live(store: Store, onError: (error: unknown, isFirst: boolean) => void = () => {}) {
  return new LiveFeed({ feed: store.feed, beforeRead: async () => {}, onError });
}

const idsIn = ({ changes }: ChangePage) => changes.map(({ order }) => order.id);

/** The next changes. A page is empty if the follower was woken by changes that it has already. */
async function nextChanges(pages: AsyncGenerator<ChangePage, void>): Promise<bigint[]> {
  for (;;) {
    const found = idsIn((await pages.next()).value!);
    if (found.length > 0) return found;
  }
}

testStore('a follower gets the recorded changes, then new ones', async (t, store) => {
  await placeAll(store, 1n, 2n);
  const ending = new AbortController();
  t.after(() => ending.abort());
  const pages = follow(live(store), 'start', ending.signal);
  assert.deepEqual(idsIn((await pages.next()).value!), [1n, 2n]);
  const next = nextChanges(pages);
  await placeAll(store, 3n);
  assert.deepEqual(await next, [3n]);
});

testStore(
  'a follower between two pages of the others, whose own page was empty a moment ago, gets the next changes',
  async (t, store) => {
    await placeAll(store, 1n);
    const feed = live(store);
    const ending = new AbortController();
    t.after(() => ending.abort());
    const others = follow(feed, 'start', ending.signal);
    await others.next();
    for (let id = 2n; id < 10n; id += 2n) {
      const next = others.next();
      await placeAll(store, id);
      const { position } = (await store.feed('now', 1))!;
      const follower = follow(feed, position, ending.signal);
      assert.deepEqual(idsIn((await follower.next()).value!), []);
      const after = nextChanges(follower);
      await placeAll(store, id + 1n);
      assert.deepEqual(await after, [id + 1n]);
      await next;
    }
  },
);

testStore(
  '"now" is after every acknowledged change, also just after another read',
  async (_t, store) => {
    const { read } = new SharedReads(store.feed);
    for (let id = 1n; id <= 3n; id += 1n) {
      await placeAll(store, id);
      assert.equal((await read('now', MAX_CHANGES))!.position.revision, id);
    }
  },
);

testStore('followers at one position share a read, and its failure', async (_t, store) => {
  await placeAll(store, 1n);
  let reads = 0;
  let isDown = true;
  const { read } = new SharedReads(async (after: FeedStart, limit: number) => {
    reads += 1;
    if (isDown) throw new StoreUnavailable('gone', 'unreachable');
    return store.feed(after, limit);
  });
  const failures = await Promise.allSettled([read('start', 10), read('start', 10)]);
  assert.deepEqual(
    failures.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(reads, 1);
  isDown = false;
  const [one, other] = await Promise.all([read('start', 10), read('start', 10)]);
  assert.equal(one, other);
  assert.equal(reads, 2);
});

testStore('a position that the store does not have ends its followers', async (_t, store) => {
  await placeAll(store, 1n);
  const lost: Position = { revision: 1n, head: 'f'.repeat(64) };
  const feed = live(store);
  const ending = new AbortController();
  await assert.rejects(follow(feed, lost, ending.signal).next(), PositionLost);
  const waiting = [1, 2].map(() => assert.rejects(feed.changed(lost, ending.signal), PositionLost));
  await waiting[0];
  ending.abort();
  await waiting[1];
});

test('every failed read is reported, the first of an outage as such, and the read is retried', async (t) => {
  const faults = ['unreachable', 'moved'] as const;
  const seen: [string, boolean][] = [];
  const done = Promise.withResolvers<void>();
  let reads = 0;
  const feed = new LiveFeed({
    feed: async () => {
      const fault = faults[Math.min(reads, 1)]!;
      reads += 1;
      throw new StoreUnavailable('gone', fault);
    },
    beforeRead: async () => {},
    onError: (error, isFirst) => {
      seen.push([(error as StoreUnavailable).fault, isFirst]);
      if (seen.length === 2) done.resolve();
    },
  });
  const ending = new AbortController();
  t.after(() => ending.abort());
  void feed.changed({ revision: 0n, head: '0'.repeat(64) }, ending.signal);
  await done.promise;
  assert.deepEqual(seen, [
    ['unreachable', true],
    ['moved', false],
  ]);
});

test('a follower that has ended leaves neither a timer nor a position', async () => {
  const reads: FeedStart[] = [];
  const now: Position = { revision: 5n, head: 'a'.repeat(64) };
  const feed = new LiveFeed({
    feed: async (after) => {
      reads.push(after);
      return { changes: [], position: now, isMore: false, now };
    },
    beforeRead: async () => {},
    onError: () => {},
  });
  await feed.changed({ revision: 1n, head: 'b'.repeat(64) }, AbortSignal.abort());
  const ending = new AbortController();
  const waiting = feed.changed(now, ending.signal);
  await until('a read', () => reads.length > 0);
  assert.deepEqual(reads[0], now);
  ending.abort();
  await waiting;
});

test('up to 64 pages are kept for other followers, and no more', async () => {
  const read: string[] = [];
  const reads = new SharedReads(async (after) => {
    read.push(positionText(after as Position));
    return undefined;
  });
  const page = { changes: [{}], isMore: false } as unknown as ChangePage;
  const at = (revision: number) => ({ revision: BigInt(revision), head: '' });
  for (let revision = 1; revision <= 65; revision += 1) reads.keep(at(revision), 1, page);
  for (const revision of [1, 64, 65]) await reads.read(at(revision), 1);
  assert.deepEqual(read, [positionText(at(65))]);
});
