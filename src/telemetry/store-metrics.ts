import { Counter, Gauge, type Registry } from '@prometheus-io/client';
import { withTimeout } from '../concurrency.ts';
import { idsLeft } from '../domain/ids.ts';
import { ORDER_STATUSES } from '../domain/order.ts';
import type { History } from '../store/history.ts';
import { SNAPSHOT_HOLDERS, type Store, type StoreSizes, type StoreStatus } from '../store/store.ts';

/** Timeout of a read of the store in a scrape. */
const READ_WITHIN_MS = 1_000;

/** Returns the store; undefined until it is open. */
export type StoreSource = () =>
  | (Pick<Store, 'status' | 'sizes' | 'engine'> & { readonly history: Pick<History, 'losses'> })
  | undefined;

export function registerStore(registry: Registry, database: string, store: StoreSource): void {
  const status = sharedRead(store, (opened) => opened.status());
  const sizes = sharedRead(store, (opened) => opened.sizes());
  registerStatus(registry, status, {
    name: 'store_orders_store_info',
    help: 'Always 1; the labels name the database, and the store by its identity.',
    labelNames: ['database', 'store'],
    set: (gauge, { identity }) => gauge.set({ database, store: identity }, 1),
  });
  new Gauge({
    name: 'store_orders_schema_version',
    help: 'Number of schema migrations that this release uses, by engine.',
    labelNames: ['engine'] as const,
    registers: [registry],
    collect() {
      const engine = store()?.engine;
      if (engine !== undefined) this.set({ engine: engine.name }, engine.schema);
    },
  });
  registerSize(registry, sizes, {
    name: 'store_orders_database_bytes',
    help: 'Size of the database.',
    size: 'database',
  });
  registerSize(registry, sizes, {
    name: 'store_orders_wal_bytes',
    help: "Size of SQLite's write-ahead log.",
    size: 'log',
  });
  registerSize(registry, sizes, {
    name: 'store_orders_disk_free_bytes',
    help: 'Free space on the disk of an SQLite database.',
    size: 'free',
  });
  const losses = sharedRead(store, (opened) => opened.history.losses());
  new Gauge({
    name: 'store_orders_lost_histories',
    help: 'Records of acknowledged changes that the store has lost, and that no operator has acknowledged.',
    registers: [registry],
    async collect() {
      this.remove();
      const found = await losses();
      if (found !== undefined) this.set(found.length);
    },
  });
  registerSize(registry, sizes, {
    name: 'store_orders_oldest_transaction_age',
    help: 'PostgreSQL: transactions since the oldest id that is in use in any database; it stops at about 2 billion.',
    size: 'oldestTransactionAge',
  });
  registerSize(registry, sizes, {
    name: 'store_orders_timeline',
    help: 'PostgreSQL: the timeline of the server in use; each promotion of a standby begins one.',
    size: 'timeline',
  });
  new Gauge({
    name: 'store_orders_held_back_transactions',
    help: 'PostgreSQL: transactions whose old rows cannot be removed, since something has an older snapshot, by what that is.',
    labelNames: ['holder'] as const,
    registers: [registry],
    async collect() {
      this.reset();
      const heldBack = (await sizes())?.heldBack;
      if (heldBack === undefined) return;
      for (const holder of SNAPSHOT_HOLDERS) this.set({ holder }, heldBack[holder]);
    },
  });
  registerStatus(registry, status, {
    name: 'store_orders_ids_left',
    help: 'Ids that are left for new orders.',
    set: (gauge, { freeIds }) => gauge.set(Number(idsLeft(freeIds))),
  });
  registerStatus(registry, status, {
    name: 'store_orders_orders',
    help: 'Orders in the store, by status.',
    labelNames: ['status'],
    set: (gauge, { orders }) => {
      for (const status of ORDER_STATUSES) gauge.set({ status }, Number(orders[status]));
    },
  });
}

/** Reads the store for a scrape. Resolves to undefined while the store is unavailable. */
type SharedRead<T> = () => Promise<T | undefined>;

/** Returns a read that the gauges of a scrape share: the registry collects them at the same time. */
function sharedRead<T>(
  store: StoreSource,
  read: (opened: NonNullable<ReturnType<StoreSource>>) => Promise<T | undefined>,
): SharedRead<T> {
  let running: Promise<T | undefined> | undefined;
  const readNow = async () => {
    const opened = store();
    if (opened === undefined) return undefined;
    return await withTimeout(READ_WITHIN_MS, () => read(opened)).catch(() => undefined);
  };
  return () => {
    running ??= readNow().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/** Registers a gauge of a number of StoreSizes, without a sample if it is unknown or does not apply. */
function registerSize(
  registry: Registry,
  sizes: SharedRead<StoreSizes>,
  {
    name,
    help,
    size,
  }: {
    name: string;
    help: string;
    size: 'database' | 'log' | 'free' | 'oldestTransactionAge' | 'timeline';
  },
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.remove();
      const value = (await sizes())?.[size];
      if (value !== undefined) this.set(value);
    },
  });
}

interface StatusGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
  readonly set: (gauge: Gauge<string>, status: StoreStatus) => void;
}

/** Registers a gauge of the store's status, without a sample while it is unknown. */
function registerStatus(
  registry: Registry,
  status: SharedRead<StoreStatus>,
  { name, help, labelNames = [], set }: StatusGauge,
): void {
  new Gauge<string>({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      this.reset();
      if (labelNames.length === 0) this.remove();
      const found = await status();
      if (found !== undefined) set(this, found);
    },
  });
}

/** When a backup was made, in milliseconds since the epoch, and its size. */
interface MeasuredBackup {
  readonly at: number;
  readonly bytes: number;
}

/** The backups of the service, read at each scrape. */
interface BackupSource {
  readonly everyMs: number;
  /** The latest good one. */
  readonly latest: () => MeasuredBackup | undefined;
}

/** They have no samples before `observeBackups` is called, which a service without backups never does. */
export function registerBackups(registry: Registry) {
  let source: BackupSource | undefined;
  const gauge = (name: string, help: string, value: (from: BackupSource) => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.remove();
        const found = source && value(source);
        if (found !== undefined) this.set(found);
      },
    });
  gauge(
    'store_orders_backup_age_seconds',
    'Age of the last valid backup made by the service.',
    ({ latest }) => ageOf(latest()),
  );
  gauge(
    'store_orders_backup_bytes',
    'Size of the last valid backup made by the service.',
    ({ latest }) => latest()?.bytes,
  );
  gauge(
    'store_orders_backup_interval_seconds',
    'Interval between backups of the service.',
    ({ everyMs }) => everyMs / 1_000,
  );
  const failures = new Counter({
    name: 'store_orders_backup_failures_total',
    help: 'Backups of the service that failed.',
    registers: [registry],
  });
  return {
    backupFailures: failures,
    observeBackups: (from: BackupSource) => {
      source = from;
    },
  };
}

function ageOf(backup: MeasuredBackup | undefined): number | undefined {
  return backup && Math.max(0, (Date.now() - backup.at) / 1_000);
}
