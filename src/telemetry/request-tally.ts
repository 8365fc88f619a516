import { Counter, type Histogram, type Registry } from '@prometheus-io/client';

/** Upper bounds, in seconds; inclusive. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 1.5, 2, 3, 5];

/** An operation and the version of its contract; "none" outside the contract. */
interface ServedOperation {
  readonly operation: string;
  readonly version: string;
}

/** The requests of an operation with the same status. */
interface Line {
  readonly labels: ServedOperation & { readonly status: string };
  count: number;
  /** The sum of the known durations. */
  seconds: number;
  /** How many had a duration up to each bound and above the one before; the last one counts those above all bounds. */
  readonly durations: number[];
}

/**
 * Counts requests and their durations. The library's histogram finds its labels by a string that it builds for each observation, which takes a
 * twentieth of the time of a small response.
 */
class RequestTally {
  /** By version, operation and status; the three have few values. */
  readonly #lines = new Map<string, Map<string, Map<string, Line>>>();

  /** @param seconds undefined for a stream, and for a request that was rejected before it was parsed */
  add({ operation, version }: ServedOperation, status: string, seconds: number | undefined): void {
    const line =
      this.#lines.get(version)?.get(operation)?.get(status) ??
      this.#newLine({ operation, version, status });
    line.count += 1;
    if (seconds === undefined) return;
    line.seconds += seconds;
    let bucket = 0;
    while (bucket < BUCKETS_S.length && seconds > BUCKETS_S[bucket]!) bucket += 1;
    line.durations[bucket]! += 1;
  }

  #newLine(labels: Line['labels']): Line {
    const { operation, version, status } = labels;
    const durations = Array.from({ length: BUCKETS_S.length + 1 }, () => 0);
    const line = { labels, count: 0, seconds: 0, durations };
    const operations = this.#lines.get(version) ?? new Map<string, Map<string, Line>>();
    const statuses = operations.get(operation) ?? new Map<string, Line>();
    this.#lines.set(version, operations.set(operation, statuses.set(status, line)));
    return line;
  }

  /** The samples of a histogram of the durations, as a registry of metrics returns them. */
  durations(name: string) {
    const bounds = [...BUCKETS_S, '+Inf'];
    return this.lines().flatMap(({ labels, seconds, durations }) => {
      let count = 0;
      const buckets = durations.map((own, index) => {
        count += own;
        const le = bounds[index]!;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      if (count === 0) return [];
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels: { ...labels }, value: seconds },
        { metricName: `${name}_count`, labels: { ...labels }, value: count },
      ];
    });
  }

  /** The requests by their labels, including those without a duration. */
  lines(): readonly Line[] {
    return [...this.#lines.values()].flatMap((operations) =>
      [...operations.values()].flatMap((statuses) => [...statuses.values()]),
    );
  }
}

export function registerRequests(registry: Registry) {
  const labelNames = ['operation', 'version', 'status'] as const;
  const tally = new RequestTally();
  new Counter({
    name: 'store_orders_http_requests_total',
    help: 'Requests by operation and version of the contract ("none": outside the contract) and status ("aborted": no response).',
    labelNames,
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, count } of tally.lines()) this.inc(labels, count);
    },
  });
  const durations = {
    name: 'store_orders_http_request_duration_seconds',
    help: 'From the arrival of a request to the end of its answer.',
    type: 'histogram',
    aggregator: 'sum',
    labelNames,
  };
  const get = async () => ({ ...durations, values: tally.durations(durations.name) });
  // This is all that a registry reads of a metric; its type has the methods that set one, too.
  registry.registerMetric({ ...durations, get } as unknown as Histogram);
  return (operation: ServedOperation, status: string, seconds?: number) =>
    tally.add(operation, status, seconds);
}
