import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Allowance, type HourlyUse, secondOf } from '../../src/domain/hourly-limit.ts';

const HOUR_MS = 3_600_000;

/** Moments at which a key cancels, and how often; many are about an hour apart. */
const attempts = fc.array(
  fc.record({
    after: fc.oneof(
      fc.nat(2_000),
      fc.nat(HOUR_MS),
      fc.integer({ min: HOUR_MS - 2_000, max: HOUR_MS + 2_000 }),
    ),
    count: fc.integer({ min: 1, max: 3 }),
  }),
  { maxLength: 30 },
);

/** What a store remembers of the cancels at some moments, latest first. */
function usesOf(moments: readonly number[]): HourlyUse[] {
  return [...Map.groupBy(moments, secondOf)]
    .map(([second, { length: count }]) => ({ second, count }))
    .toSorted((a, b) => b.second - a.second);
}

/** How many moments are less than `ms` before `now`. */
const within = (moments: readonly number[], now: number, ms: number) =>
  moments.filter((moment) => moment > now - ms).length;

test('a limited key never cancels more than its limit in any hour, and never less than it may', () => {
  const property = (limit: number, tries: { after: number; count: number }[]) => {
    const cancelled: number[] = [];
    let now = Date.UTC(2026, 10, 20);
    for (const { after, count } of tries) {
      now += after;
      const allowance = new Allowance(limit, usesOf(cancelled), now);
      let taken = 0;
      for (let index = 0; index < count; index += 1) {
        const isTaken = allowance.take();
        if (isTaken) taken += 1;
        // Cancels are counted by the second: one may count for up to a second longer than an hour.
        else assert.ok(within(cancelled, now, HOUR_MS + 1_000) + taken >= limit);
      }
      assert.equal(allowance.taken, taken);
      cancelled.push(...Array.from({ length: taken }, () => now));
      assert.ok(within(cancelled, now, HOUR_MS) <= limit);
    }
  };
  fc.assert(fc.property(fc.integer({ min: 1, max: 4 }), attempts, property), { numRuns: 500 });
});

test('a limited key may cancel again at retryAt, and not before', () => {
  // The limit can be lower than it was when the cancels were made.
  const property = (limit: number, earlier: number[], own: number) => {
    const now = Date.UTC(2026, 10, 20);
    const cancelled = earlier.map((ago) => now - ago);
    const allowance = new Allowance(limit, usesOf(cancelled), now);
    let taken = 0;
    while (taken < own && allowance.take()) taken += 1;
    if (allowance.take()) return;
    cancelled.push(...Array.from({ length: taken }, () => now));
    const mayCancelAt = (at: number) => new Allowance(limit, usesOf(cancelled), at).take();
    assert.ok(allowance.retryAt() > now);
    assert.equal(mayCancelAt(allowance.retryAt() - 1), false);
    assert.equal(mayCancelAt(allowance.retryAt()), true);
  };
  const ago = fc.array(fc.nat(HOUR_MS + 2_000), { maxLength: 8 });
  const limits = fc.integer({ min: 1, max: 4 });
  fc.assert(fc.property(limits, ago, fc.nat(4), property), { numRuns: 500 });
});

test('uses by a clock that was more than an hour ahead do not lock a key out', () => {
  const now = 1_000_000_000_000;
  const usesAt = (ms: number) => [{ second: secondOf(now + ms), count: 1 }];
  assert.equal(new Allowance(1, usesAt(59 * 60_000), now).take(), false);
  assert.equal(new Allowance(1, usesAt(61 * 60_000), now).take(), true);
  assert.equal(new Allowance(1, usesAt(10 * 365 * 86_400_000), now).take(), true);
});
