import { Command } from 'commander';
import { type DatabaseConfig, DEFAULTS, readDatabaseConfig } from '../config/config.ts';
import type { Environment } from '../keys/api-key.ts';
import { environmentOf, expectEnvironment, expectNotMoved } from '../store/claim.ts';
import { databaseLabel, hasPassword, openStore, storeExists } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { say, UsageError } from './terminal/output.ts';
import { terminal } from './terminal/terminal.ts';

export interface DatabaseFlags {
  readonly database?: string;
  /** A file that holds the URL. */
  readonly databaseFile?: string;
}

/** A subcommand with the flag that all of them have, and examples in its help. */
export function databaseCommand(name: string, description: string, examples: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--database <url>',
      `which database (environment: DATABASE_URL, default: ${DEFAULTS.DATABASE_URL})`,
    )
    .option(
      '--database-file <file>',
      'a file that holds the URL, so that its password is in no list of processes (environment: DATABASE_URL_FILE)',
    )
    .addHelpText('after', `\nExamples:\n${examples.replaceAll(/^/gm, '  ')}`);
}

/**
 * Opens the store that flags and environment name, and closes it whatever `use` does.
 * @param access read or write a store that exists, or write one that is made if there is none
 */
export async function withStore<T>(
  flags: DatabaseFlags,
  access: 'read' | 'write' | 'create',
  use: (store: Store, environment: Environment) => Promise<T>,
): Promise<T> {
  const config = databaseConfig(flags);
  const isNew = !(await storeExists(config.databaseUrl));
  const store = await openStore(config.databaseUrl, {
    create: access === 'create',
    purpose: access === 'read' ? 'read' : 'write',
  });
  try {
    if (isNew) say(`Made the store ${databaseLabel(config.databaseUrl)}.`);
    const { movedTo } = await store.status();
    if (access !== 'read') expectNotMoved(config.databaseUrl, movedTo);
    else if (movedTo !== undefined) say(`This store was moved to ${movedTo}.`);
    const recorded =
      access === 'create'
        ? await environmentOf(store, config.environment ?? DEFAULTS.ENVIRONMENT)
        : (await store.status()).environment;
    expectEnvironment(config.databaseUrl, recorded, config.environment);
    return await use(store, recorded ?? DEFAULTS.ENVIRONMENT);
  } finally {
    await store.close();
  }
}

/** Whether the database that flags and environment name is there. */
export function databaseExists(flags: DatabaseFlags): Promise<boolean> {
  return storeExists(databaseConfig(flags).databaseUrl);
}

/** What flags and environment say of the database. @throws ConfigError */
export function databaseConfig(
  flags: DatabaseFlags & { readonly environment?: Environment },
): DatabaseConfig {
  const { environment } = flags;
  const given = environment === undefined ? {} : { ENVIRONMENT: environment };
  return readDatabaseConfig(terminal().env, { ...databaseSettings(flags), ...given });
}

/** @throws UsageError */
export function databaseSettings(flags: DatabaseFlags): Partial<Record<string, string>> {
  const { database, databaseFile } = flags;
  if (database === undefined && databaseFile === undefined) return {};
  if (database !== undefined && databaseFile !== undefined) {
    throw new UsageError('give --database or --database-file, not both');
  }
  if (database !== undefined) warnOfPassword('--database', database);
  // A flag comes before both variables.
  return { DATABASE_URL: database ?? '', DATABASE_URL_FILE: databaseFile ?? '' };
}

/** Whoever may look at the processes of a machine sees their arguments. */
export function warnOfPassword(flag: string, url: string): void {
  if (!hasPassword(url)) return;
  say(
    `The password in ${flag} can be seen in the list of processes; ${flag}-file, PGPASSWORD and PGPASSFILE keep it out.`,
  );
}
