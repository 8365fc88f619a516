import fc from 'fast-check';
import {
  INT64_MAX,
  INT64_MIN,
  isReference,
  ORDER_STATUSES,
  type Order,
} from '../../src/domain/order.ts';

export const int64 = fc.oneof(
  fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  fc.constantFrom(INT64_MIN, -1n, 0n, 1n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX),
);

/** Any millisecond that RFC 3339 can represent in UTC. */
export const shipDate = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });

/** Any code point, half of them ASCII. The unit "binary" of fast-check does the same, but takes a second to set up. */
export const codePoint = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0x80, max: 0x10ffff }))
  .map((value) => String.fromCodePoint(value));

/** Any text that can be a reference. */
export const reference = fc
  .string({ unit: codePoint, minLength: 1, maxLength: 20 })
  .filter(isReference);

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** An order with arbitrary values; any field but id and status may be missing. */
export const anyOrder: fc.Arbitrary<Order> = fc
  .record(
    {
      id: int64,
      status: fc.constantFrom(...ORDER_STATUSES),
      petId: optional(int64),
      quantity: optional(fc.bigInt({ min: 0n, max: INT64_MAX })),
      shipDate: optional(shipDate),
      complete: optional(fc.boolean()),
      reference: optional(reference),
      reason: optional(reference),
      trackingNumber: optional(reference),
    },
    { noNullPrototype: true },
  )
  .map((order) => ({
    ...order,
    reason: order.status === 'cancelled' ? order.reason : undefined,
    trackingNumber: order.status === 'shipped' ? order.trackingNumber : undefined,
  }));
