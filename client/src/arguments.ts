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
