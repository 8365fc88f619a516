import type { MigrationStep, MigrationSteps } from '../../migration-steps.ts';
import { holdersOf } from '../database/blockers.ts';
import { newSession } from '../database/connection.ts';
import type { MigrationPlan } from '../database/migration-plan.ts';
import { hasSchema, missingMigrations, planOf } from '../database/schema.ts';
import { PATIENT } from '../database/time-limits.ts';

/**
 * Returns what `migrate` would do with the database at `url` now. Writes nothing.
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function planPostgres(url: string): Promise<MigrationSteps> {
  const session = await newSession(url, PATIENT);
  try {
    const isNew = !(await hasSchema(session));
    const steps: MigrationStep[] = [];
    const tables = new Set<string>();
    for (const name of await missingMigrations(session)) {
      const plan = await planOf(session, name);
      for (const { table } of [...plan.indexes, ...plan.locks]) tables.add(table);
      steps.push({ name, effects: isNew ? ['makes tables and functions'] : effectsOf(plan) });
    }
    return { steps, heldBy: tables.size === 0 ? [] : await holdersOf(session, [...tables]) };
  } finally {
    session.destroy();
  }
}

function effectsOf({ indexes, locks }: MigrationPlan): string[] {
  const builds = indexes.map(
    ({ name, table }) =>
      `builds the index ${name} on ${table}, concurrently: waits for older transactions, and holds up no request`,
  );
  const locked = locks.map(({ table, mode }) => {
    const effect = {
      'ACCESS EXCLUSIVE': 'reads and writes of it wait',
      'SHARE ROW EXCLUSIVE': 'writes of it wait',
      'ROW EXCLUSIVE': 'as any write does',
    }[mode];
    return `locks ${table} (${mode}) for a moment: ${effect}; gives way after a second, and tries again`;
  });
  const effects = [...builds, ...locked];
  return effects.length > 0 ? effects : ['makes tables or functions, and locks no table'];
}
