import type { MigrationStep, MigrationSteps } from '../../diagnosis.ts';
import { holdersOf } from '../database/blockers.ts';
import { newSession } from '../database/connection.ts';
import type { MigrationPlan } from '../database/migration-plan.ts';
import { expectNoOtherTables, hasSchema, missingMigrations, planOf } from '../database/schema.ts';
import { COMMAND } from '../database/session-settings.ts';

export async function planPostgres(url: string): Promise<MigrationSteps> {
  using session = await newSession(url, COMMAND);
  const isNew = !(await hasSchema(session));
  if (isNew) await expectNoOtherTables(session);
  const steps: MigrationStep[] = [];
  const tables = new Set<string>();
  for (const name of await missingMigrations(session)) {
    const plan = await planOf(session, name);
    for (const { table } of [...plan.indexes, ...plan.locks]) tables.add(table);
    steps.push({ name, effects: isNew ? ['creates tables and functions'] : effectsOf(plan) });
  }
  return { steps, heldBy: tables.size === 0 ? [] : await holdersOf(session, [...tables]) };
}

function effectsOf({ indexes, locks }: MigrationPlan): string[] {
  const builds = indexes.map(
    ({ name, table }) =>
      `builds the index ${name} on ${table}, concurrently: waits for older transactions, and blocks no requests`,
  );
  const locked = locks.map(({ table, mode }) => {
    const effect = {
      'ACCESS EXCLUSIVE': 'blocks reads and writes of the table',
      'SHARE ROW EXCLUSIVE': 'blocks writes of the table',
      'ROW EXCLUSIVE': 'the lock of any write',
    }[mode];
    return `locks ${table} (${mode}) briefly: ${effect}; if it waits for more than a second, it retries later`;
  });
  const effects = [...builds, ...locked];
  return effects.length > 0 ? effects : ['creates tables or functions, and locks no table'];
}
