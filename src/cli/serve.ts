import { type Command, Option } from 'commander';
import { DEFAULTS, readConfig } from '../service/settings/config.ts';
import { readEnvironment } from '../service/settings/settings.ts';
import { start } from '../service/start.ts';
import { createLog } from '../telemetry/logger.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from './command-database.ts';
import { addSamples, sampleCount } from './orders/sample.ts';
import { writeErr, written } from './terminal/output.ts';
import { terminal } from './terminal/terminal.ts';

interface ServeFlags extends DatabaseFlags {
  readonly host?: string;
  readonly port?: string;
  readonly baseUrl?: string;
  readonly environment?: string;
  readonly operationsHost?: string;
  readonly operationsPort?: string;
  readonly reusePort?: true;
  readonly drainSeconds?: string;
  readonly stopLimitSeconds?: string;
  readonly logLevel?: string;
  readonly sample?: string;
  readonly firstKey: boolean;
}

export function serveCommand(): Command {
  const flag = (
    flags: string,
    variable: keyof typeof DEFAULTS | 'BASE_URL',
    description: string,
  ) => {
    const fallback = { BASE_URL: 'http://HOST:PORT/v1', ...DEFAULTS }[variable];
    return new Option(flags, `${description} (environment: ${variable}, default: ${fallback})`);
  };
  return databaseCommand(
    'serve',
    'run the service',
    `npx store-orders serve
npx store-orders serve --port 9000 --database sqlite:/var/lib/store-orders/orders.db
npx store-orders serve --sample 1000`,
  )
    .addOption(flag('--host <host>', 'HOST', 'address to listen on'))
    .addOption(flag('--port <port>', 'PORT', 'port to listen on'))
    .addOption(flag('--base-url <url>', 'BASE_URL', 'public URL of the service'))
    .addOption(flag('--environment <name>', 'ENVIRONMENT', 'production or staging'))
    .addOption(flag('--operations-host <host>', 'OPERATIONS_HOST', 'address of health and metrics'))
    .addOption(flag('--operations-port <port>', 'OPERATIONS_PORT', 'port of health and metrics'))
    .addOption(
      flag('--reuse-port', 'REUSE_PORT', 'share the port with other processes (SO_REUSEPORT)'),
    )
    .addOption(
      flag(
        '--drain-seconds <count>',
        'DRAIN_SECONDS',
        'how long a stop keeps serving while reporting not ready',
      ),
    )
    .addOption(
      flag(
        '--stop-limit-seconds <count>',
        'STOP_LIMIT_SECONDS',
        'how long a stop waits for remaining requests before it aborts them',
      ),
    )
    .addOption(flag('--log-level <level>', 'LOG_LEVEL', 'trace … fatal, or silent'))
    .option('--sample <count>', 'add sample orders to an empty store')
    .option('--no-first-key', 'do not create a first key')
    .addHelpText(
      'after',
      `\nSet by environment variables, or in the file named by SETTINGS_FILE: BACKUP_DIR, BACKUP_EVERY, BACKUP_KEEP, CAN_LOSE_CHANGES, CONSOLE, CORS_ORIGINS,
PET_LOOKUP_DEPRECATED_AT, PET_LOOKUP_SUNSET_AT, STAGING_BASE_URL, WEBHOOK_ALLOW, WEBHOOK_KEY_FILE. By environment variables only: OTEL_EXPORTER_OTLP_ENDPOINT and
other variables of OpenTelemetry. README.md lists all settings.`,
    )
    .action(serve);
}

function settings(flags: ServeFlags): Partial<Record<string, string>> {
  const given = {
    HOST: flags.host,
    PORT: flags.port,
    BASE_URL: flags.baseUrl,
    ENVIRONMENT: flags.environment,
    OPERATIONS_HOST: flags.operationsHost,
    OPERATIONS_PORT: flags.operationsPort,
    REUSE_PORT: flags.reusePort === undefined ? undefined : 'true',
    DRAIN_SECONDS: flags.drainSeconds,
    STOP_LIMIT_SECONDS: flags.stopLimitSeconds,
    LOG_LEVEL: flags.logLevel,
  };
  return { ...given, ...databaseSettings(flags) } as Partial<Record<string, string>>;
}

async function serve(flags: ServeFlags): Promise<void> {
  const given = settings(flags);
  const read = () => readConfig(readEnvironment(terminal().env), given);
  const { env } = terminal();
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
