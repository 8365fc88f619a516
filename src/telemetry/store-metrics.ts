import { Gauge, type Registry } from '@prometheus-io/client';
import { idsLeft } from '../orders/ids.ts';
import { ORDER_STATUSES } from '../orders/order.ts';
import type { Store, StoreSizes, StoreStatus } from '../store/store.ts';
import { within } from '../store/within.ts';

/** Timeout of the store status in a scrape. */
const STATUS_WITHIN_MS = 1_000;

/** Returns the store; undefined until it is open. */
export type StoreSource = () => Pick<Store, 'status' | 'sizes' | 'engine'> | undefined;

export function registerStore(registry: Registry, database: string, store: StoreSource): void {
  registerStatus(registry, store, {
    name: 'store_orders_store_info',
    help: 'Always 1; the labels say which store is served.',
    labelNames: ['store', 'database'],
    set: (gauge, { storeId }) => gauge.set({ store: storeId, database }, 1),
  });
  new Gauge({
    name: 'store_orders_schema_version',
    help: 'Migrations of the schema that the store is used with, by engine.',
    labelNames: ['engine'] as const,
    registers: [registry],
    collect() {
      const engine = store()?.engine;
      if (engine !== undefined) this.set({ engine: engine.name }, engine.schema);
    },
  });
  registerSize(registry, store, {
    name: 'store_orders_database_bytes',
    help: 'Size of the database.',
    size: 'database',
  });
  registerSize(registry, store, {
    name: 'store_orders_wal_bytes',
    help: "Size of SQLite's write-ahead log.",
    size: 'log',
  });
  registerSize(registry, store, {
    name: 'store_orders_disk_free_bytes',
    help: 'Free space on the disk of an SQLite database.',
    size: 'free',
  });
  registerStatus(registry, store, {
    name: 'store_orders_ids_left',
    help: 'Ids that are left for new orders.',
    set: (gauge, { freeIds }) => gauge.set(Number(idsLeft(freeIds))),
  });
  registerStatus(registry, store, {
    name: 'store_orders_orders',
    help: 'Orders in the store, by status.',
    labelNames: ['status'],
    set: (gauge, { orders }) => {
      for (const status of ORDER_STATUSES) gauge.set({ status }, Number(orders[status]));
    },
  });
}

/** Registers a gauge of a size of the store. Where a size does not apply or is unknown, there is no sample. */
function registerSize(
  registry: Registry,
  store: StoreSource,
  { name, help, size }: { name: string; help: string; size: keyof StoreSizes },
): void {
  new Gauge({
    ...{ name, help, registers: [registry] },
    async collect() {
      this.remove();
      const opened = store();
      if (opened === undefined) return;
      const sizes = await within(STATUS_WITHIN_MS, () => opened.sizes()).catch(() => undefined);
      const bytes = sizes?.[size];
      if (bytes !== undefined) this.set(bytes);
    },
  });
}

interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly set: (gauge: Gauge<string>, status: StoreStatus) => void;
}

/** Registers a gauge of the store's status. While the store is unavailable, its status is unknown, and there is no sample. */
function registerStatus(
  registry: Registry,
  store: StoreSource,
  { name, help, labelNames = [], set }: StatusGauge,
): void {
  new Gauge<string>({
    ...{ name, help, labelNames: [...labelNames], registers: [registry] },
    async collect() {
      this.reset();
      if (labelNames.length === 0) this.remove();
      const opened = store();
      if (opened === undefined) return;
      const status = await within(STATUS_WITHIN_MS, () => opened.status()).catch(() => undefined);
      if (status !== undefined) set(this, status);
    },
  });
}
