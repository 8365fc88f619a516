import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedWait } from '../../src/http/deadline.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { StoreUnavailable } from '../../src/store/store.ts';

/** A request with so many milliseconds left. */
const due = (ms: number) => ({ answerBy: performance.now() + ms }) as Exchange;
const never = () => new Promise<never>(() => {});

test('requests that wait for the same at the same time share one wait', async () => {
  const waits = new SharedWait<string>();
  const asked = Promise.resolve('list');
  const first = waits.inTime(due(1_000), () => asked);
  assert.equal(
    waits.inTime(due(1_000), () => asked),
    first,
  );
  assert.equal(await first, 'list');
});

test('a request with less time, or another question, has a wait of its own', async () => {
  const waits = new SharedWait<never>();
  const asked = never();
  const long = waits.inTime(due(60), () => asked);
  const short = waits.inTime(due(5), () => asked);
  const other = waits.inTime(due(60), never);
  assert.equal(new Set([long, short, other]).size, 3);
  for (const one of [short, long, other]) await assert.rejects(one, StoreUnavailable);
});

test('what ended is not waited for again, and not kept', async () => {
  const waits = new SharedWait<string>();
  const asked = Promise.resolve('list');
  const exchange = due(1_000);
  const first = waits.inTime(exchange, () => asked);
  await first;
  assert.notEqual(
    waits.inTime(exchange, () => asked),
    first,
  );
});

test('a request whose time is up asks nothing, though others wait', async () => {
  const waits = new SharedWait<string>();
  const asked = Promise.resolve('list');
  const first = waits.inTime(due(10), () => asked);
  await assert.rejects(
    waits.inTime(due(-1), () => assert.fail('asked')),
    StoreUnavailable,
  );
  await first;
});
