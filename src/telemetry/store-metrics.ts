import { Counter, type Registry } from '@prometheus-io/client';
import { idsLeft } from '../domain/ids.ts';
import { ORDER_STATUSES } from '../domain/order.ts';
import type { History } from '../store/history.ts';
import { SNAPSHOT_HOLDERS, type Store, type StoreSizes } from '../store/store.ts';
import { registerGauges, sharedRead } from './gauges.ts';

/** Returns the store; undefined until it is open. */
export type StoreSource = () =>
  | (Pick<Store, 'status' | 'sizes' | 'engine'> & { readonly history: Pick<History, 'losses'> })
  | undefined;

/** The gauges of a store have no samples while it is unavailable. */
export function registerStore(registry: Registry, database: string, store: StoreSource): void {
  const status = sharedRead(store, (opened) => opened.status());
  const sizes = sharedRead(store, (opened) => opened.sizes());
  const losses = sharedRead(store, (opened) => opened.history.losses());
  const size = (key: Exclude<keyof StoreSizes, 'heldBack'>) => async () => (await sizes())?.[key];
  registerGauges(registry, [
    {
      name: 'store_orders_store_info',
      help: 'Always 1; the labels name the database, and the store by its identity.',
      labelNames: ['database', 'store'],
      read: async () => {
        const found = await status();
        return found && [[{ database, store: found.identity }, 1]];
      },
    },
    {
      name: 'store_orders_schema_version',
      help: 'Number of schema migrations that this release uses, by engine.',
      labelNames: ['engine'],
      read: () => {
        const engine = store()?.engine;
        return engine && [[{ engine: engine.name }, engine.schema]];
      },
    },
    {
      name: 'store_orders_database_bytes',
      help: 'Size of the database.',
      read: size('database'),
    },
    {
      name: 'store_orders_wal_bytes',
      help: "Size of SQLite's write-ahead log.",
      read: size('log'),
    },
    {
      name: 'store_orders_disk_free_bytes',
      help: 'Free space on the disk of an SQLite database.',
      read: size('free'),
    },
    {
      name: 'store_orders_lost_histories',
      help: 'Records of acknowledged changes that the store has lost, and that no operator has acknowledged.',
      read: async () => (await losses())?.length,
    },
    {
      name: 'store_orders_oldest_transaction_age',
      help: 'PostgreSQL: transactions since the oldest id that is in use in any database; it stops at about 2 billion.',
      read: size('oldestTransactionAge'),
    },
    {
      name: 'store_orders_timeline',
      help: 'PostgreSQL: the timeline of the server in use; each promotion of a standby begins one.',
      read: size('timeline'),
    },
    {
      name: 'store_orders_held_back_transactions',
      help: 'PostgreSQL: transactions whose old rows cannot be removed, since something has an older snapshot, by what that is.',
      labelNames: ['holder'],
      read: async () => {
        const heldBack = (await sizes())?.heldBack;
        return heldBack && SNAPSHOT_HOLDERS.map((holder) => [{ holder }, heldBack[holder]]);
      },
    },
    {
      name: 'store_orders_ids_left',
      help: 'Ids that are left for new orders.',
      read: async () => {
        const found = await status();
        return found && Number(idsLeft(found.freeIds));
      },
    },
    {
      name: 'store_orders_orders',
      help: 'Orders in the store, by status.',
      labelNames: ['status'],
      read: async () => {
        const orders = (await status())?.orders;
        return orders && ORDER_STATUSES.map((name) => [{ status: name }, Number(orders[name])]);
      },
    },
  ]);
}

/** The backups of the service, read at each scrape. */
interface BackupSource {
  readonly everyMs: number;
  /** When the latest good one was made, in milliseconds since the epoch, and its size. */
  readonly latest: () => { readonly at: number; readonly bytes: number } | undefined;
}

/** They have no samples before `observeBackups` is called, which a service without backups never does. */
export function registerBackups(registry: Registry) {
  let source: BackupSource | undefined;
  registerGauges(registry, [
    {
      name: 'store_orders_backup_age_seconds',
      help: 'Age of the last valid backup made by the service.',
      read: () => {
        const backup = source?.latest();
        return backup && Math.max(0, (Date.now() - backup.at) / 1_000);
      },
    },
    {
      name: 'store_orders_backup_bytes',
      help: 'Size of the last valid backup made by the service.',
      read: () => source?.latest()?.bytes,
    },
    {
      name: 'store_orders_backup_interval_seconds',
      help: 'Interval between backups of the service.',
      read: () => source && source.everyMs / 1_000,
    },
  ]);
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
