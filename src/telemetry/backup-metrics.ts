import { Counter, Gauge, type Registry } from '@prometheus-io/client';

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
