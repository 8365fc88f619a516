const INT64_MAX = 2n ** 63n - 1n;

/** @throws TypeError unless `value` is a bigint; RangeError unless it is an int64 */
export function int64Text(value: bigint, name: string): string {
  if (typeof value !== 'bigint') {
    throw new TypeError(
      `${name} must be a bigint, such as 9007199254740993n: a number cannot hold every id (got ${typeof value})`,
    );
  }
  if (value > INT64_MAX || value < -INT64_MAX - 1n) throw new RangeError(`${name} is not an int64`);
  return String(value);
}

/** @throws RangeError for an invalid Date */
export function timeText(time: Date | string | undefined): string | undefined {
  return time instanceof Date ? time.toISOString() : time;
}

/** @throws TypeError for an empty ETag, without which a request would have no condition */
export function etagText(etag: string | undefined, name: string): string | undefined {
  if (etag === '') throw new TypeError(`${name} must be an ETag, and is empty`);
  return etag;
}

/** Not crypto.randomUUID, which browsers have on https only. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
