import type { OpenOptions } from '../open-options.ts';
import type { StoreCheck } from '../tables/consistency.ts';
import type { MovedIds } from '../tables/copied.ts';
import { filesIn, parseAddress, withoutCredentials } from './database/address.ts';
import { newSession } from './database/connection.ts';
import { expectNoOtherTables, hasSchema } from './database/schema.ts';
import { COMMAND } from './database/session-settings.ts';
import { checkPostgres } from './maintenance/check.ts';
import { openPostgresSource, openPostgresTarget, whilePostgresMoved } from './maintenance/copy.ts';
import { diagnosePostgres } from './maintenance/diagnose.ts';
import { planPostgres } from './maintenance/plan.ts';
import { openPostgres } from './open.ts';

/** Returns the database at a postgres:// URL; see Database. */
export function postgresDatabase(url: string) {
  return {
    engine: 'postgresql' as const,
    url,
    label: parseAddress(url).label,
    identity: withoutCredentials(url),
    file: undefined,
    certificates: () => filesIn(url),
    exists: async () => {
      using session = await newSession(url, COMMAND);
      const isThere = await hasSchema(session);
      if (!isThere) await expectNoOtherTables(session);
      return isThere;
    },
    open: (options: OpenOptions) => openPostgres(url, options),
    check: (options?: StoreCheck) => checkPostgres(url, options),
    diagnose: () => diagnosePostgres(url),
    planMigrations: () => planPostgres(url),
    openSource: () => openPostgresSource(url),
    openTarget: () => openPostgresTarget(url),
    whileMoved: (label: string, complete: (ids: MovedIds) => Promise<void>) =>
      whilePostgresMoved(url, label, complete),
  };
}
