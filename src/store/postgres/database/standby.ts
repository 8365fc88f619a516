import { StoreUnavailable } from '../../store.ts';
import type { Column } from '../../tables/session.ts';

/**
 * "on" if a standby executes the statement. A proxy may send reads to standbys, which lag behind; it sends functions that are volatile,
 * such as pg_is_in_recovery(), to the primary, and this one is not.
 */
export const ON_STANDBY = `current_setting('in_hot_standby', true)`;

/**
 * Called with the column ON_STANDBY of a statement that reads.
 * @throws StoreUnavailable
 */
export function expectOnPrimary(onStandby: Column | undefined): void {
  if (onStandby !== 'on') return;
  throw new StoreUnavailable(
    'PostgreSQL: a standby has answered a read, which may be out of date: connect to the primary directly, not through a proxy that ' +
      'distributes reads',
    'unreachable',
  );
}
