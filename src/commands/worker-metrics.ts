import {
  AggregatorRegistry,
  type MetricObjectWithValues,
  type MetricValue,
} from '@prometheus-io/client';

/** What a registry gives as JSON. */
export type MetricsOfWorker = MetricObjectWithValues<MetricValue<string>>[];

/**
 * The metrics of workers that come and go, as one: what they count goes on counting from where those that
 * have ended left it, since a counter that falls looks as if it had begun anew.
 */
export class WorkerMetrics {
  readonly #latest = new Map<number, MetricsOfWorker>();
  /** Counters and histograms of workers that have ended. */
  #ended: Promise<MetricsOfWorker> = Promise.resolve([]);

  /** What a worker says of itself. */
  set(worker: number, metrics: MetricsOfWorker): void {
    this.#latest.set(worker, metrics);
  }

  /** It says no more. */
  end(worker: number): void {
    const metrics = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (metrics === undefined) return;
    const counted = metrics.filter(({ type }) => isCumulative(String(type)));
    this.#ended = this.#ended.then((before) =>
      AggregatorRegistry.aggregate([before, counted]).getMetricsAsJSON(),
    );
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    const ended = await this.#ended;
    return AggregatorRegistry.aggregate([ended, ...this.#latest.values()]).metrics();
  }
}

function isCumulative(type: string): boolean {
  return type === 'counter' || type === 'histogram';
}
