import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contradictionsIn } from './histories/checker.ts';
import { acknowledgedAfter } from './histories/eras.ts';
import { type Effect, Observed } from './histories/operation.ts';
import type { Change } from './histories/timeline.ts';

/** A change of the feed, of the order N of pet 100 + N; its head is that of its revision. */
function change(revision: number, type: Change['type'], order: number, by?: string): Change {
  const status = type === 'placed' ? 'pending' : type;
  return {
    ...{ revision, type, order: String(order), pet: String(100 + order), by, at: revision },
    ...{ entry: `${order}:${status}`, listed: `${order}:${status}`, head: `head-${revision}` },
    // The first order has no ship date.
    ...{ placedAt: `at ${9 - order}`, shipDate: order === 1 ? undefined : `on ${order}` },
    ...{ updatedAt: `at ${5 - revision}`, reference: order === 1 ? 'r1' : undefined },
    detail: undefined,
  };
}

const FEED = [
  change(1, 'placed', 1, 'a'),
  change(2, 'placed', 2, 'a'),
  change(3, 'cancelled', 1, 'a'),
  change(4, 'shipped', 2, 'b'),
];

const PLACED_1 = { type: 'placed', order: '1', pet: '101', isRepeated: false } as const;
const PLACED_2 = { type: 'placed', order: '2', pet: '102', isRepeated: false } as const;
const CANCELLED_1 = { type: 'changed', order: '1', change: 'cancelled', by: 'a' } as const;
const SHIPPED_2 = { type: 'changed', order: '2', change: 'shipped', by: 'b' } as const;

/** Operations one after another, each 10 ms long, or at given times. */
function contradictions(
  effects: readonly (Effect | readonly [effect: Effect, begin: number, end: number])[],
  changes: readonly Change[] = FEED,
  observed = new Observed(),
): string[] {
  for (const [index, each] of effects.entries()) {
    const [effect, begin, end] = Array.isArray(each) ? each : [each, index * 20, index * 20 + 10];
    observed.add({ what: `operation ${index}`, begin, end, effect });
  }
  return contradictionsIn({ name: 'history', changes, inheritedUpTo: 0, observed });
}

const EVERY = { after: undefined, limit: 9, sort: 'id', isDescending: false } as const;
/** A complete page of the last revision. */
const PAGE = { type: 'page', revision: 4, head: 'head-4', hasNext: false, ...EVERY } as const;
const FEED_4 = { type: 'feed', upTo: 4, now: 4, head: 'head-4', only: undefined } as const;
const ALL = [PLACED_1, PLACED_2, CANCELLED_1, SHIPPED_2];

test('a history that happened one after another has no contradictions', () => {
  assert.deepEqual(contradictions(ALL), []);
  const reads: Effect[] = [
    { type: 'list', orders: '2:shipped' },
    { type: 'list', orders: '2:shipped', revision: 4 },
    { ...PAGE, orders: '1:cancelled 2:shipped' },
    { ...FEED_4, after: 2, changes: '3:cancelled:1:cancelled:a 4:shipped:2:shipped:b' },
    { ...FEED_4, after: 1, only: { type: 'shipped' }, changes: '4:shipped:2:shipped:b' },
    { type: 'counts', revision: 4, counts: '0 pending, 1 shipped, 1 cancelled' },
    { type: 'saw', order: '1', status: 'cancelled', entry: '1:cancelled' },
    { type: 'saw', order: '3', status: 'absent' },
    { type: 'saw', order: '2', status: 'ended' },
    { type: 'saw', order: '1', status: 'cancelled', endedBy: { key: 'a', isSo: true } },
    { type: 'saw', order: '1', status: 'cancelled', endedBy: { key: 'b', isSo: false } },
    { type: 'history', order: '1', events: '1:placed:a 3:cancelled:a' },
    { ...PAGE, isDescending: true, limit: 1, hasNext: true, orders: '2:shipped' },
    { ...PAGE, hasNext: true, orders: '1:cancelled' },
    { ...PAGE, status: 'cancelled', orders: '1:cancelled' },
    { ...PAGE, pet: '102', orders: '2:shipped' },
    { ...PAGE, placedFrom: 'at 8', orders: '1:cancelled' },
    { ...PAGE, placedFrom: 'at 7', placedBefore: 'at 8', orders: '2:shipped' },
    { ...PAGE, shipDateFrom: 'on 1', orders: '2:shipped' },
    { ...PAGE, shipDateBefore: 'on 2', orders: '' },
    { ...PAGE, status: 'shipped,cancelled', orders: '1:cancelled 2:shipped' },
    { ...PAGE, head: undefined, orders: '1:cancelled 2:shipped' },
    { ...FEED_4, after: 0, only: { pet: '102', by: 'b' }, changes: '4:shipped:2:shipped:b' },
    { type: 'export', revision: 3, orders: 'cancelled:1:cancelled pending:2:pending' },
    { ...PAGE, sort: 'placedAt', orders: '2:shipped 1:cancelled' },
    { ...PAGE, sort: 'shipDate', orders: '2:shipped 1:cancelled' },
    { ...PAGE, sort: 'updatedAt', orders: '2:shipped 1:cancelled' },
    { ...PAGE, updatedFrom: 'at 2', orders: '1:cancelled' },
    { ...PAGE, updatedBefore: 'at 2', orders: '2:shipped' },
    { ...PAGE, referencePrefix: 'r', sort: 'reference', orders: '1:cancelled' },
    { ...PAGE, referenceContains: 'R', orders: '1:cancelled' },
    { ...PAGE, sort: 'placedAt', after: { key: 'at 7', id: 2n }, orders: '1:cancelled' },
    {
      ...{ type: 'activity', revision: 4, from: 2, before: 4 },
      counts: '1 placed, 1 cancelled, 0 shipped; a: 1 placed, 1 cancelled, 0 shipped',
    },
    {
      ...{ type: 'activity', revision: 4, from: 2, before: 4, by: 'b' },
      counts: '0 placed, 0 cancelled, 0 shipped',
    },
  ];
  assert.deepEqual(contradictions([...ALL, ...reads]), []);
});

test('operations at the same time may have happened in either order', () => {
  const list = (orders: string) => [{ type: 'list', orders } as const, 0, 100] as const;
  for (const orders of ['', '1:pending', '1:pending 2:pending', '2:pending', '2:shipped']) {
    const during = ALL.map((effect, index) => [effect, index * 20, index * 20 + 10] as const);
    assert.deepEqual(contradictions([...during, list(orders)]), []);
  }
});

test('a list that is older than an acknowledged change is found, also if it is the same as a later one', () => {
  const [found] = contradictions([...ALL, { type: 'list', orders: '2:pending' }]);
  assert.match(
    found!,
    /operation 4 .* which was so up to revision 3; but revision 4 .* operation 3/,
  );
  // Order 3 is placed and cancelled: the list is the same before and after.
  const more = [...FEED, change(5, 'placed', 3, 'a'), change(6, 'cancelled', 3, 'a')];
  const done: Effect[] = [
    { type: 'placed', order: '3', pet: '103', isRepeated: false },
    { type: 'changed', order: '3', change: 'cancelled', by: 'a' },
  ];
  assert.deepEqual(
    contradictions([...ALL, ...done, { type: 'list', orders: '2:shipped' }], more),
    [],
  );
});

test('a list that was so at no revision is described by what it lacks and has besides', () => {
  const [found] = contradictions([...ALL, { type: 'list', orders: '1:pending 2:shipped' }]);
  assert.match(found!, /it lacks 2:pending and has 2:shipped besides/);
});

test('an acknowledged change that the feed lacks, or has twice acknowledged, is found', () => {
  assert.match(
    contradictions(ALL, FEED.slice(0, 3))[0]!,
    /operation 3 .* no such change of order 2/,
  );
  assert.match(
    contradictions([...ALL, CANCELLED_1]).join(),
    /operation 4 .*, and also operation 2/,
  );
});

test('a change that was not requested is found; one without an answer may have happened at any time', () => {
  const [found] = contradictions(ALL.slice(0, 3));
  assert.match(found!, /the feed has 4:shipped:2\S* by b, which was not requested/);
  const changes = [{ type: 'shipped', of: '2', by: 'b' }] as const;
  const unknown = [{ type: 'unknown', changes }, 0, Number.POSITIVE_INFINITY] as const;
  assert.deepEqual(contradictions([unknown, ...ALL.slice(0, 3)]), []);
});

test('a page may have passed over an order only if it has changed since the page before', () => {
  const second = { ...PAGE, orders: '2:shipped' };
  assert.deepEqual(contradictions([...ALL, { ...second, since: 2 }]), []);
  const [found] = contradictions([...ALL, { ...second, since: 3 }]);
  assert.match(found!, /it lacks 1:cancelled and has nothing besides/);
  const empty = { ...PAGE, orders: '' };
  assert.deepEqual(contradictions([...ALL, { ...empty, since: 2 }]), []);
  assert.notDeepEqual(contradictions([...ALL, { ...empty, since: 3 }]), []);
});

test('what a response shows at a revision must be so at that revision', () => {
  const wrong: [Effect, RegExp][] = [
    [
      { ...PAGE, revision: 2, head: 'head-2', orders: '1:cancelled 2:pending' },
      /it lacks 1:pending and has 1:cancelled/,
    ],
    [{ ...PAGE, limit: 1, orders: '1:cancelled' }, /no page follows/],
    [{ ...PAGE, head: 'other', orders: '1:cancelled 2:shipped' }, /the head of revision 4 is/],
    [{ ...PAGE, sort: 'shipDate', orders: '1:cancelled 2:shipped' }, /the order of the entries/],
    [
      { ...FEED_4, after: 1, changes: '3:cancelled:1:cancelled:a 4:shipped:2:shipped:b' },
      /it lacks 2:placed:2/,
    ],
    [{ ...FEED_4, after: 3, head: 'x', changes: '4:shipped:2:shipped:b' }, /the head of revision/],
    [{ ...FEED_4, after: 3, now: 3, changes: '4:shipped:2:shipped:b' }, /it is of revision 3/],
    [
      { type: 'export', revision: 3, orders: 'pending:1:pending pending:2:pending' },
      /it lacks cancelled:1:cancelled/,
    ],
    [
      { ...FEED_4, after: 0, only: { by: 'b' }, changes: '3:cancelled:1:cancelled:a' },
      /it lacks 4:shipped:2/,
    ],
    [{ type: 'imported', placed: [{ order: '7', pet: '101' }] }, /no order 7 of pet 101/],
    [
      { type: 'counts', revision: 4, counts: '1 pending, 1 shipped, 0 cancelled' },
      /there were 0 pending/,
    ],
    [
      { type: 'activity', revision: 3, from: 0, before: 9, counts: '1 placed' },
      /there were 2 placed, 1 cancelled, 0 shipped; a: 2 placed, 1 cancelled, 0 shipped, not 1 placed/,
    ],
    [
      { type: 'saw', order: '1', status: 'cancelled', entry: '1:cancelled:x' },
      /while it was cancelled, order 1 was 1:cancelled, not 1:cancelled:x/,
    ],
    [
      { type: 'list', orders: '2:shipped', revision: 3 },
      /its ETag is of revision 3, where it lacks 2:pending and has 2:shipped/,
    ],
    [
      { type: 'saw', order: '1', status: 'cancelled', endedBy: { key: 'b', isSo: true } },
      /order 1 was ended by a/,
    ],
    [
      { type: 'saw', order: '1', status: 'cancelled', endedBy: { key: 'a', isSo: false } },
      /order 1 was ended by a/,
    ],
  ];
  for (const [effect, words] of wrong) assert.match(contradictions([...ALL, effect])[0]!, words);
});

test('orders that were imported are requested, and not more of them', () => {
  const placed = [1, 2].map((order) => ({ order: String(order), pet: String(100 + order) }));
  const rest = [CANCELLED_1, SHIPPED_2];
  assert.deepEqual(contradictions([{ type: 'imported', placed }, ...rest]), []);
  const [first] = contradictions([{ type: 'imported', placed: placed.slice(1) }, ...rest]);
  assert.match(first!, /1:placed:1\S* by a, which was not requested/);
});

test('a reader that misses a change, or receives one twice, is found', () => {
  const [placed, cancelled, shipped] = [
    '2:placed:2:pending:a',
    '3:cancelled:1:cancelled:a',
    '4:shipped:2:shipped:b',
  ];
  const received = (changes: string[], only?: string) => {
    const observed = new Observed();
    const filter = only === undefined ? undefined : { type: only };
    observed.received.push({
      ...{ what: 'a stream', after: 1, only: filter, changes, isLate: false },
    });
    return contradictions(ALL, FEED, observed);
  };
  assert.deepEqual(received([placed, cancelled]), []);
  assert.deepEqual(received([shipped], 'shipped'), []);
  assert.match(
    received([placed, shipped])[0]!,
    /4:shipped:2\S* after 2:placed:2\S*, where the feed has 3/,
  );
  assert.match(received([placed, placed])[0]!, /where the feed has 3:cancelled:1/);
  assert.match(received([cancelled], 'shipped')[0]!, /where the feed has 4:shipped:2/);
});

test('an ETag that names two states is found, and two orders of one placement', () => {
  const observed = new Observed();
  observed.sawEtag('"1"', 'a', 'one');
  new Observed(observed).sawEtag('"1"', 'a', 'another');
  assert.deepEqual(observed.findings, []);
  observed.sawEtag('"1"', 'b', 'one');
  assert.match(observed.findings[0]!, /the ETag "1" named a before, and now b/);
  const twice = [change(1, 'placed', 1, 'a'), { ...change(2, 'placed', 2, 'a'), pet: '101' }];
  assert.match(contradictions([], twice)[0]!, /one placement made the orders 1 and 2/);
});

test('changes that a failover has lost are named if a response had acknowledged them, also a refusal of their repetition', () => {
  const observed = new Observed();
  const saw = { type: 'saw', order: '2', status: 'shipped' } as const;
  const effects: readonly Effect[] = [
    ...[PLACED_1, CANCELLED_1, saw],
    { type: 'unknown', changes: [{ type: 'shipped', of: '2', by: 'b' }] },
    { ...saw, endedBy: { key: 'b', isSo: false } },
    { ...saw, endedBy: { key: 'b', isSo: true } },
  ];
  for (const effect of effects) observed.add({ what: 'it', begin: 0, end: 1, effect });
  const cancelled = 'it acknowledged a change that was lost: cancelled 1';
  const shipped = 'it acknowledged a change that was lost: shipped 2';
  assert.deepEqual(acknowledgedAfter(2, FEED, observed), [cancelled, shipped]);
  assert.deepEqual(acknowledgedAfter(3, FEED, observed), [shipped]);
  assert.deepEqual(acknowledgedAfter(4, FEED, observed), []);
});
