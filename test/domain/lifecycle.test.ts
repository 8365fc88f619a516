import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decide, type OrderCommand } from '../../src/domain/lifecycle.ts';
import { differingFields, type Order, type OrderStatus } from '../../src/domain/order.ts';
import { anyOrder } from './arbitraries.ts';

const NOW = Date.UTC(2026, 10, 20);

/** The complete transition table: the outcome of each command, by the status of the order. */
const TABLE: Readonly<Record<OrderStatus | 'none', Readonly<Record<string, string>>>> = {
  none: {
    cancel: 'order_not_found',
    ship: 'order_not_found',
    place: 'placed',
  },
  pending: {
    cancel: 'cancelled',
    ship: 'shipped',
    'place an identical order': 'unchanged',
    'place a different order': 'order_differs',
  },
  shipped: {
    cancel: 'order_already_shipped',
    ship: 'unchanged',
    'place an identical order': 'unchanged',
    'place a different order': 'order_differs',
  },
  cancelled: {
    cancel: 'order_already_cancelled',
    ship: 'order_already_cancelled',
    'place an identical order': 'unchanged',
    'place a different order': 'order_differs',
  },
};

const known = (order: Order) => ({ order, revision: 7n });

function commandFor(name: string, order: Order): OrderCommand {
  if (name === 'cancel') return { type: 'cancel', id: order.id };
  if (name === 'ship') return { type: 'ship', id: order.id };
  if (name === 'place a different order') {
    return { type: 'insertOrder', order: { ...order, complete: !order.complete } };
  }
  return { type: 'insertOrder', order };
}

for (const [status, row] of Object.entries(TABLE)) {
  for (const [name, expected] of Object.entries(row)) {
    test(`status ${status}: ${name} → ${expected}`, () => {
      fc.assert(
        fc.property(anyOrder, (any) => {
          const order = { ...any, status: status as OrderStatus };
          const before = status === 'none' ? undefined : Object.freeze(order);
          const decision = decide(before && known(before), commandFor(name, order), NOW);
          assert.equal(decision.outcome, expected);
          const changes = ['placed', 'cancelled', 'shipped'].includes(expected);
          assert.equal(decision.order !== undefined, changes);
        }),
      );
    });
  }
}

test('cancelling without a reason changes only the status', () => {
  fc.assert(
    fc.property(anyOrder, (any) => {
      const order = {
        ...any,
        status: 'pending',
        reason: undefined,
        trackingNumber: undefined,
      } as const;
      const { order: after } = decide(known(order), { type: 'cancel', id: order.id }, NOW);
      assert.deepEqual(differingFields(order, after!), ['status']);
    }),
  );
});

test('shipping sets the actual ship date and completes the order', () => {
  const order: Order = { id: 1n, status: 'pending', petId: 7n, shipDate: 0, complete: false };
  const now = decide(known(order), { type: 'ship', id: 1n }, NOW).order;
  const shipped = { ...order, status: 'shipped', complete: true, trackingNumber: undefined };
  assert.deepEqual(now, { ...shipped, shipDate: NOW });
  const earlier = decide(known(order), { type: 'ship', id: 1n, at: 5 }, NOW).order;
  assert.deepEqual(earlier, { ...shipped, shipDate: 5 });
});

test('a cancelled order has the reason of the cancel, and a shipped one its tracking number', () => {
  const order: Order = { id: 1n, status: 'pending' };
  const cancelled = decide(known(order), { type: 'cancel', id: 1n, reason: 'other' }, NOW).order;
  assert.equal(cancelled!.reason, 'other');
  const shipped = decide(known(order), { type: 'ship', id: 1n, trackingNumber: 'T' }, NOW);
  assert.equal(shipped.order!.trackingNumber, 'T');
  // A repeated shipment changes nothing.
  const again = decide(known(shipped.order!), { type: 'ship', id: 1n, trackingNumber: 'U' }, NOW);
  assert.deepEqual(again, { outcome: 'unchanged' });
});
