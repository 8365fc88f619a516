import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contradictionsIn } from './histories/checker.ts';
import { type Effect, Observed } from './histories/operation.ts';
import type { Change } from './histories/timeline.ts';

/** A change of the feed, of the order N of pet 100 + N. */
function change(revision: number, type: Change['type'], order: number, by?: string): Change {
  return { revision, type, order: String(order), pet: String(100 + order), by, at: revision };
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

const EVERY = { after: undefined, limit: 9, status: undefined, isDescending: false } as const;
const ALL = [PLACED_1, PLACED_2, CANCELLED_1, SHIPPED_2];

test('a history that happened one after another has no contradictions', () => {
  assert.deepEqual(contradictions(ALL), []);
  const reads: Effect[] = [
    { type: 'list', orders: '2:shipped' },
    { type: 'page', revision: 4, ...EVERY, orders: '1:cancelled 2:shipped' },
    { type: 'feed', after: 2, upTo: 4, now: 4, changes: '3:cancelled:1 4:shipped:2' },
    { type: 'counts', revision: 4, counts: '0 pending, 1 shipped, 1 cancelled' },
    { type: 'saw', order: '1', status: 'cancelled' },
    { type: 'saw', order: '3', status: 'absent' },
    { type: 'saw', order: '2', status: 'ended' },
    { type: 'history', order: '1', events: '1:placed 3:cancelled' },
    { type: 'page', revision: 4, ...EVERY, isDescending: true, limit: 1, orders: '2:shipped' },
    { type: 'page', revision: 4, ...EVERY, status: 'cancelled', orders: '1:cancelled' },
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
  assert.match(found!, /the feed has 4:shipped:2 by b, which was not requested/);
  const changes = [{ type: 'shipped', of: '2', by: 'b' }] as const;
  const unknown = [{ type: 'unknown', changes }, 0, Number.POSITIVE_INFINITY] as const;
  assert.deepEqual(contradictions([unknown, ...ALL.slice(0, 3)]), []);
});

test('a page, a feed and counts must be those of their revision', () => {
  const page = { type: 'page', revision: 2, ...EVERY, orders: '1:cancelled 2:pending' };
  assert.match(
    contradictions([...ALL, page as Effect])[0]!,
    /it lacks 1:pending and has 1:cancelled/,
  );
  const feed = { type: 'feed', after: 1, upTo: 4, now: 4, changes: '3:cancelled:1 4:shipped:2' };
  assert.match(contradictions([...ALL, feed as Effect])[0]!, /it lacks 2:placed:2/);
  const counts = { type: 'counts', revision: 4, counts: '1 pending, 1 shipped, 0 cancelled' };
  assert.match(contradictions([...ALL, counts as Effect])[0]!, /there were 0 pending/);
});

test('a reader that misses a change, or receives one twice, is found', () => {
  const received = (...changes: string[]) => {
    const observed = new Observed();
    observed.received.push({ what: 'a stream', after: 1, changes, isLate: false });
    return contradictions(ALL, FEED, observed);
  };
  assert.deepEqual(received('2:placed:2', '3:cancelled:1'), []);
  assert.match(
    received('2:placed:2', '4:shipped:2')[0]!,
    /4:shipped:2 after 2:placed:2, where the feed has 3/,
  );
  assert.match(received('2:placed:2', '2:placed:2')[0]!, /where the feed has 3:cancelled:1/);
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
