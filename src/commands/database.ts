import { Command } from 'commander';
import { type Config, DEFAULTS, readDatabaseConfig } from '../config.ts';
import { databaseLabel, openStore, storeExists } from '../store/open.ts';
import type { Store } from '../store/store.ts';
import { say } from './output.ts';

export interface DatabaseFlags {
  readonly database?: string;
}

/** A subcommand with the flag that all of them have, and examples in its help. */
export function databaseCommand(name: string, description: string, examples: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--database <url>',
      `which database (environment: DATABASE_URL, default: ${DEFAULTS.DATABASE_URL})`,
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
  use: (store: Store, config: Pick<Config, 'databaseUrl' | 'environment'>) => Promise<T>,
): Promise<T> {
  const config = readDatabaseConfig(process.env, databaseSettings(flags));
  const isNew = !(await storeExists(config.databaseUrl));
  const store = await openStore(config.databaseUrl, {
    create: access === 'create',
    purpose: access === 'read' ? 'read' : 'write',
  });
  if (isNew) say(`Made the store ${databaseLabel(config.databaseUrl)}.`);
  try {
    return await use(store, config);
  } finally {
    await store.close();
  }
}

/** Whether the database that flags and environment name is there. */
export function databaseExists(flags: DatabaseFlags): Promise<boolean> {
  return storeExists(readDatabaseConfig(process.env, databaseSettings(flags)).databaseUrl);
}

export function databaseSettings({ database }: DatabaseFlags): Partial<Record<string, string>> {
  // The flag comes before both variables.
  return database === undefined ? {} : { DATABASE_URL: database, DATABASE_URL_FILE: '' };
}
