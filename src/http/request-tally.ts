/** Seconds; each bucket also holds what is faster. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 1.5, 2, 3, 5];

/** Requests of one operation with one status. */
interface Line {
  count: number;
  seconds: number;
  /** Those whose time is known, by the first of BUCKETS_S that is not faster than they are. */
  readonly buckets: number[];
}

/**
 * How many requests there were and how long they took, by operation and status. A line is found and added
 * to in a tenth of the time that the metrics' own labels take, of which there would be two for each request.
 */
export class RequestTally {
  readonly #lines = new Map<string, Map<number, Line>>();

  /** @param status 0 for a request that was not answered */
  add(operation: string, status: number, seconds?: number): void {
    const line = this.#line(operation, status);
    line.count += 1;
    if (seconds === undefined) return;
    line.seconds += seconds;
    let bucket = 0;
    while (bucket < BUCKETS_S.length && seconds > BUCKETS_S[bucket]!) bucket += 1;
    line.buckets[bucket]! += 1;
  }

  #line(operation: string, status: number): Line {
    let byStatus = this.#lines.get(operation);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.#lines.set(operation, byStatus);
    }
    let line = byStatus.get(status);
    if (line === undefined) {
      const buckets = Array.from({ length: BUCKETS_S.length + 1 }, () => 0);
      line = { count: 0, seconds: 0, buckets };
      byStatus.set(status, line);
    }
    return line;
  }

  /** Every line with its labels. */
  *lines() {
    for (const [operation, byStatus] of this.#lines) {
      for (const [status, line] of byStatus) {
        yield { labels: { operation, status: status === 0 ? 'aborted' : String(status) }, line };
      }
    }
  }

  /** The values of a histogram of this name, as a registry has them. */
  durations(name: string) {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] =
      [];
    for (const { labels, line } of this.lines()) {
      if (line.buckets.every((count) => count === 0)) continue;
      let upTo = 0;
      for (const [index, le] of [...BUCKETS_S, '+Inf'].entries()) {
        upTo += line.buckets[index]!;
        values.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: upTo });
      }
      values.push({ metricName: `${name}_sum`, labels, value: line.seconds });
      values.push({ metricName: `${name}_count`, labels, value: upTo });
    }
    return values;
  }
}
