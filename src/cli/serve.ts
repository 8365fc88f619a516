import { type Command, Option } from 'commander';
import { readConfig } from '../service/settings/config.ts';
import { readEnvironment } from '../service/settings/reader.ts';
import {
  defaultOf,
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
} from '../service/settings/table.ts';
import { start } from '../service/start.ts';
import { createLog } from '../telemetry/logger.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from './command-database.ts';
import { addSamples, sampleCount } from './orders/sample.ts';
import { terminal, writeErr, written } from './terminal/terminal.ts';

interface ServeFlags extends DatabaseFlags {
  readonly sample?: string;
  readonly firstKey: boolean;
}

/** The flags of settings, in addition to those of the database. */
const FLAGS = SETTING_NAMES.filter((name) => !name.startsWith('DATABASE_')).flatMap((name) => {
  const { flag, help }: Setting<unknown> = SETTINGS[name];
  if (flag === undefined) return [];
  const description = `${help} (environment: ${name}, default: ${defaultOf(name)})`;
  return [{ name, option: new Option(flag, description) }];
});
/** The settings that have no flag. */
const WITHOUT_FLAG = SETTING_NAMES.filter((name) => flagOf(name) === undefined);

export function serveCommand(): Command {
  const command = databaseCommand(
    'serve',
    'run the service',
    `npx store-orders serve
npx store-orders serve --port 9000 --database sqlite:/var/lib/store-orders/orders.db
npx store-orders serve --sample 1000`,
  );
  for (const { option } of FLAGS) command.addOption(option);
  return command
    .option('--sample <count>', 'add sample orders to an empty store')
    .option('--no-first-key', 'do not create a first key')
    .addHelpText(
      'after',
      `
Set by environment variables, or in the file named by SETTINGS_FILE: ${WITHOUT_FLAG.join(', ')}.
By environment variables only: OTEL_EXPORTER_OTLP_ENDPOINT and other variables of OpenTelemetry. docs/configuration.md describes all settings.`,
    )
    .action(serve);
}

function settings(flags: ServeFlags): Partial<Record<string, string>> {
  const values = flags as unknown as Readonly<Record<string, string | true | undefined>>;
  const given = FLAGS.map(({ name, option }) => {
    const value = values[option.attributeName()];
    return [name, value === true ? 'true' : value] as const;
  });
  return { ...Object.fromEntries(given), ...databaseSettings(flags) };
}

async function serve(flags: ServeFlags): Promise<void> {
  const given = settings(flags);
  const { env } = terminal();
  const read = () => readConfig(readEnvironment(env), given);
  const variables = readEnvironment(env);
  const config = readConfig(variables, given);
  const samples = flags.sample === undefined ? 0 : sampleCount(flags.sample);
  const log = await createLog(config.logLevel);
  await start(config, log, {
    environment: env,
    settings: variables,
    read,
    writeErr,
    writeErrWhole: (text) => written(terminal().stderr, text),
    prepare: async (store) => {
      if (samples > 0) await addSamples(store, samples);
    },
    makesFirstKey: flags.firstKey,
  });
}
