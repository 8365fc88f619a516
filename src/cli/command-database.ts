import { Command } from 'commander';
import type { Environment } from '../domain/api-key.ts';
import { readDatabaseConfig } from '../service/settings/config.ts';
import { readEnvironment } from '../service/settings/reader.ts';
import { defaultOf, SETTINGS } from '../service/settings/table.ts';
import { actionOf } from '../store/audit.ts';
import type { OutcomeOf, StoreCommand } from '../store/commands.ts';
import { hasPassword } from '../store/database.ts';
import { claimEnvironment, expectEnvironment, expectNotMoved } from '../store/open-options.ts';
import type { Store } from '../store/store.ts';
import { terminal, UsageError, writeErr } from './terminal/terminal.ts';

export interface DatabaseFlags {
  readonly database?: string;
  /** A file that contains the URL. */
  readonly databaseFile?: string;
}

/** Creates a subcommand with the database flags, and with examples in its help. */
export function databaseCommand(name: string, description: string, examples: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--database <url>',
      `${SETTINGS.DATABASE_URL.help} (environment: DATABASE_URL, default: ${defaultOf('DATABASE_URL')})`,
    )
    .option(
      '--database-file <file>',
      `${SETTINGS.DATABASE_URL_FILE.help} (environment: DATABASE_URL_FILE)`,
    )
    .addHelpText('after', `\nExamples:\n${examples.replaceAll(/^/gm, '  ')}`);
}

/**
 * Opens the store selected by flags and environment, calls `use`, and always closes the store.
 * @param access "read" or "write" an existing store; "create" to write one that is created if missing
 */
export async function withStore<T>(
  flags: DatabaseFlags,
  access: 'read' | 'write' | 'create',
  use: (store: Store, environment: Environment) => Promise<T>,
): Promise<T> {
  const { database, environment: wanted } = databaseConfig(flags);
  const isNew = !(await database.exists());
  await using store = await database.open({
    create: access === 'create',
    purpose: access === 'read' ? 'read' : 'write',
    onLost: (record) => writeErr(`Acknowledged changes are lost: ${record}.`),
  });
  if (isNew) writeErr(`Created the store ${database.label}.`);
  const { movedTo, environment } = await store.status({ evenIfMoved: true });
  if (access !== 'read') expectNotMoved(database.label, movedTo);
  else if (movedTo !== undefined) writeErr(`This store was moved to ${movedTo}.`);
  const recorded =
    access === 'create' ? await claimEnvironment(store, wanted ?? 'production') : environment;
  expectEnvironment(database.label, recorded, wanted);
  return await use(store, recorded ?? 'production');
}

/** Reads the database configuration from flags and environment. @throws ConfigError, UsageError */
export function databaseConfig(flags: DatabaseFlags & { readonly environment?: Environment }) {
  return readDatabaseConfig(readEnvironment(terminal().env), {
    ...databaseSettings(flags),
    ENVIRONMENT: flags.environment,
  });
}

/** Returns the settings of the database flags. @throws UsageError if both are given */
export function databaseSettings(flags: DatabaseFlags): Partial<Record<string, string>> {
  const { database, databaseFile } = flags;
  if (database === undefined && databaseFile === undefined) return {};
  if (database !== undefined && databaseFile !== undefined) {
    throw new UsageError('give --database or --database-file, not both');
  }
  if (database !== undefined) warnOfPassword('--database', database);
  // Either flag overrides both environment variables.
  return { DATABASE_URL: database ?? '', DATABASE_URL_FILE: databaseFile ?? '' };
}

/** Warns of a password in an argument, which is visible in the process list. */
export function warnOfPassword(flag: string, url: string): void {
  if (!hasPassword(url)) return;
  writeErr(
    `The password in ${flag} is visible in the process list. Use ${flag}-file, PGPASSWORD or PGPASSFILE instead.`,
  );
}

/** Applies commands in one transaction with their audit record. @param name of the operator's command @param what it does, without secrets */
export async function applyRecorded<C extends StoreCommand>(
  store: Store,
  name: string,
  what: string,
  ...commands: readonly C[]
): Promise<OutcomeOf<C>[]> {
  const record = { type: 'audit', action: actionOf(name, what) } as const;
  const [, ...outcomes] = await store.apply<StoreCommand>([record, ...commands]);
  return outcomes as OutcomeOf<C>[];
}
