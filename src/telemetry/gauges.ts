import { Gauge, type Registry } from '@prometheus-io/client';
import { withTimeout } from '../concurrency.ts';

/** Timeout of a read in a scrape. */
const READ_WITHIN_MS = 1_000;

/** The value of a gauge, or its values by labels; undefined while it has none. */
type Samples =
  | number
  | undefined
  | readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];

interface GaugeDescription {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  /** Called at each scrape. */
  readonly read: () => Samples | Promise<Samples>;
}

/** Registers gauges that are read at each scrape. */
export function registerGauges(registry: Registry, gauges: readonly GaugeDescription[]): void {
  for (const { name, help, labelNames = [], read } of gauges) {
    new Gauge<string>({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const samples = await read();
        if (labelNames.length === 0) this.remove();
        else this.reset();
        if (typeof samples === 'number') this.set(samples);
        else for (const [labels, value] of samples ?? []) this.set(labels, value);
      },
    });
  }
}

/**
 * Returns a read that the gauges of a scrape share: the registry collects them at the same time. It resolves to undefined if it fails, or if
 * there is no source yet.
 */
export function sharedRead<S, T>(
  source: () => S | undefined,
  read: (from: S) => Promise<T | undefined>,
): () => Promise<T | undefined> {
  let running: Promise<T | undefined> | undefined;
  const readNow = async () => {
    const from = source();
    if (from === undefined) return undefined;
    return await withTimeout(READ_WITHIN_MS, () => read(from)).catch(() => undefined);
  };
  return () => {
    running ??= readNow().finally(() => {
      running = undefined;
    });
    return running;
  };
}
