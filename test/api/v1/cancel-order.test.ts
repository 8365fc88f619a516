import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotConfirmed } from '../../../src/store/group-commit.ts';
import { StoreUnavailable } from '../../../src/store/store.ts';
import { pending, place, startService, testService } from '../../http/harness.ts';

const ORDERS = '/v1/store/orders';
const code = ({ body }: { body: string }) => JSON.parse(body).code;

testService(
  'cancelling a pending order is 204 without a body and removes it from the list',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(1n), pending(2n));
    const answer = await call('DELETE', `${ORDERS}/1`);
    assert.equal(answer.status, 204);
    assert.equal(answer.body, '');
    assert.equal(answer.headers['content-type'], undefined);
    assert.deepEqual(
      JSON.parse((await call('GET', ORDERS)).body).map(({ id }: { id: number }) => id),
      [2],
    );
  },
);

testService('the history records which key cancelled the order', async (t) => {
  const { call, store, key } = await startService(t);
  await place(store, pending(1n));
  await call('DELETE', `${ORDERS}/1`);
  assert.equal((await store.events(1n)).at(-1)!.by, key.id);
});

testService('a second cancel is 404 with the code order_already_cancelled', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  await call('DELETE', `${ORDERS}/1`);
  const again = await call('DELETE', `${ORDERS}/1`);
  assert.equal(again.status, 404);
  assert.equal(code(again), 'order_already_cancelled');
});

testService('cancelling an unknown order is 404', async (t) => {
  const { call } = await startService(t);
  const answer = await call('DELETE', `${ORDERS}/1`);
  assert.equal(answer.status, 404);
  assert.equal(code(answer), 'order_not_found');
});

testService('cancelling a shipped order is 409, and the order stays in the list', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  await store.apply([{ type: 'ship', id: 1n }]);
  const answer = await call('DELETE', `${ORDERS}/1`);
  assert.equal(answer.status, 409);
  assert.equal(code(answer), 'order_already_shipped');
  assert.equal(JSON.parse((await call('GET', ORDERS)).body).length, 1);
});

testService(
  'of two orders whose ids are equal as doubles, only the requested one is cancelled',
  async (t) => {
    const { call, store } = await startService(t);
    await place(store, pending(9007199254740992n), pending(9007199254740993n));
    assert.equal((await call('DELETE', `${ORDERS}/9007199254740993`)).status, 204);
    const [one, other] = await store.orders([9007199254740992n, 9007199254740993n]);
    assert.equal(one!.status, 'pending');
    assert.equal(other!.status, 'cancelled');
  },
);

testService('of 64 concurrent cancels of one order, exactly one is 204', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(1n));
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => call('DELETE', `${ORDERS}/1`)),
  );
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  assert.equal(answers.filter((answer) => answer.status === 404).length, 63);
  assert.equal((await store.events(1n)).length, 2);
});

testService('the limits of int64 are valid ids', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(2n ** 63n - 1n), pending(-(2n ** 63n)));
  assert.equal((await call('DELETE', `${ORDERS}/9223372036854775807`)).status, 204);
  assert.equal((await call('DELETE', `${ORDERS}/-9223372036854775808`)).status, 204);
});

test('percent-encoded digits of an id are decoded (RFC 3986)', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(5n));
  assert.equal((await call('DELETE', `${ORDERS}/%35`)).status, 204);
});

const INVALID_IDS = [
  ...['-0', '+5', '007', '0x10', '1e3', '5.0', '9223372036854775808', '-9223372036854775809'],
  ...['5;x', '5%00', '5%2F6', '%D9%A5', '5%20', '%205', '5,6', 'undefined', 'NaN', '*'],
  ...['0b1', '5n', '1_000', "5'", '5%0a', '%2B5', '9'.repeat(400)],
];
test('an id that is not a canonical int64 is 404 and changes nothing', async (t) => {
  const { call, store } = await startService(t);
  await place(store, ...[0n, 1n, 5n, 6n, 7n, 16n, 1000n].map(pending));
  for (const id of INVALID_IDS) {
    const answer = await call('DELETE', `${ORDERS}/${id}`);
    assert.equal(answer.status, 404, id);
    assert.equal(code(answer), 'invalid_order_id', id);
  }
  assert.equal((await store.status()).orders.pending, 7n);
});

test('a path that only resembles the operation is 404 and changes nothing', async (t) => {
  const { call, store } = await startService(t);
  await place(store, pending(5n));
  const paths = [`${ORDERS}/`, `${ORDERS}//5`, `${ORDERS}/5/`, `/v1//store/orders/5`];
  paths.push('/v1/store/Orders/5', '/V1/store/orders/5', '//v1/store/orders/5');
  for (const path of paths) assert.equal((await call('DELETE', path)).status, 404, path);
  assert.equal((await store.status()).orders.pending, 1n);
});

test('a request body is ignored, whatever its content and media type', async (t) => {
  const { call, store } = await startService(t);
  const types = ['application/json', 'text/xml', ';;;', 'application/x-www-form-urlencoded', ''];
  await place(store, ...types.map((_, index) => pending(BigInt(index))));
  for (const [index, type] of types.entries()) {
    const headers: Record<string, string> = type === '' ? {} : { 'content-type': type };
    const answer = await call('DELETE', `${ORDERS}/${index}`, headers, '{"not json');
    assert.equal(answer.status, 204, type);
  }
});

test('a cancel whose outcome is unknown is 503', async (t) => {
  const { call, store } = await startService(t, {}, (real) => ({
    ...real,
    apply: () =>
      Promise.reject(new StoreUnavailable('connection lost while committing', 'unreachable')),
  }));
  await place(store, pending(1n));
  const answer = await call('DELETE', `${ORDERS}/1`);
  assert.equal(answer.status, 503);
  assert.equal(code(answer), 'store_unavailable');
});

test('an internal error is 500, reveals no details and is logged', async (t) => {
  const { call, log } = await startService(t, {}, (real) => ({
    ...real,
    apply: () => Promise.reject(new Error('the secret inside')),
  }));
  const answer = await call('DELETE', `${ORDERS}/1`);
  assert.equal(answer.status, 500);
  assert.equal(code(answer), 'internal_error');
  assert.doesNotMatch(answer.body, /secret inside/);
  assert.match(log(), /the secret inside/);
});

test('a cancel beyond the capacity of a batch is 503', async (t) => {
  const { call, store, metrics, log } = await startService(t, {}, (real) => ({
    ...real,
    apply: () => Promise.reject(new NotConfirmed('too many commands are waiting')),
  }));
  await place(store, pending(1n));
  const answer = await call('DELETE', `${ORDERS}/1`);
  assert.equal(answer.status, 503);
  assert.equal(code(answer), 'store_unavailable');
  const counted = await metrics.registry.metrics();
  assert.match(counted, /^store_orders_store_errors_total\{cause="slow"\} 1$/m);
  assert.doesNotMatch(log(), /"stack"/);
});

test('the number of commands per transaction is measured', async (t) => {
  const { call, metrics } = await startService(t);
  await call('DELETE', `${ORDERS}/1`);
  const counted = await metrics.registry.metrics();
  assert.match(counted, /^store_orders_command_batch_size_sum 1$/m);
  assert.match(counted, /^store_orders_command_batch_size_count 1$/m);
});
