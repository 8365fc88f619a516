import { Command, CommanderError } from 'commander';
import { WebhookKeyUnusable } from '../feed/deliveries/webhook-key.ts';
import { ConfigError } from '../service/settings/reader.ts';
import { StoreNotUsable, StoreUnavailable } from '../store/store.ts';
import { VERSION } from '../version.ts';
import { auditCommand } from './database/audit.ts';
import { backupCommand } from './database/backup.ts';
import { checkCommand } from './database/check.ts';
import { copyCommand } from './database/copy.ts';
import { doctorCommand } from './database/doctor/doctor.ts';
import { idsCommand } from './database/ids.ts';
import { migrateCommand } from './database/migrate.ts';
import { reactivateCommand } from './database/reactivate.ts';
import { rechainCommand } from './database/rechain.ts';
import { restoreCommand } from './database/restore.ts';
import { keysCommand } from './keys.ts';
import { cancelCommand } from './orders/cancel.ts';
import { changesCommand } from './orders/changes.ts';
import { exportCommand } from './orders/export.ts';
import { importCommand } from './orders/import/import.ts';
import { importsCommand } from './orders/import/imports.ts';
import { listCommand } from './orders/list.ts';
import { petsCommand } from './orders/pets.ts';
import { sampleCommand } from './orders/sample.ts';
import { shipCommand } from './orders/ship.ts';
import { showCommand } from './orders/show.ts';
import { referenceCommand } from './reference.ts';
import { serveCommand } from './serve.ts';
import {
  asStarted,
  CommandFailed,
  OutputFailed,
  runIn,
  type Terminal,
  terminal,
  UsageError,
  writeErr,
  writeOut,
} from './terminal/terminal.ts';
import { webhooksCommand } from './webhooks/webhooks.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;
/** The exit code that a shell reports for a process that SIGPIPE has ended. */
const EXIT_UNREAD = 141;

/** The commands, in the groups of the help. */
const COMMANDS: Readonly<Record<string, readonly (() => Command)[]>> = {
  Service: [serveCommand, referenceCommand],
  Orders: [
    ...[listCommand, showCommand, cancelCommand, shipCommand, changesCommand],
    ...[exportCommand, importCommand, importsCommand, sampleCommand, petsCommand],
  ],
  Keys: [keysCommand],
  Webhooks: [webhooksCommand],
  Database: [
    ...[backupCommand, restoreCommand, checkCommand, doctorCommand, auditCommand],
    ...[copyCommand, reactivateCommand, migrateCommand, idsCommand, rechainCommand],
  ],
};

/**
 * Runs the command line `argv` on the terminal `own`.
 * @returns the exit code: 0 success, 1 failure, 2 invalid usage or configuration, 141 if the reader of stdout has left
 */
export function run(argv: readonly string[], own: Terminal): Promise<number> {
  return runIn(own, async () => {
    let help = '';
    const addHelp = (text: string) => {
      help += text;
    };
    try {
      await buildProgram(addHelp).parseAsync(argv, { from: 'user' });
      return 0;
    } catch (error) {
      if (help === '') return report(error);
      return writeOut(help).then(() => report(error), report);
    }
  });
}

/** @param writeHelp takes the text of --help and --version */
export function buildProgram(writeHelp: (text: string) => void): Command {
  const program = new Command('store-orders')
    .description('Serves the orders of the pet store over HTTP, and manages them.')
    .version(VERSION)
    .addHelpText(
      'after',
      `
Examples:
  npx store-orders serve
  npx store-orders import orders.csv
  npx store-orders <command> --help

Exit codes: 0 success, 1 failure, 2 invalid usage or configuration, 141 if the reader of the output has left.`,
    );

  for (const [heading, commands] of Object.entries(COMMANDS)) {
    for (const command of commands) program.addCommand(command().helpGroup(`${heading}:`));
  }
  configure(program, writeHelp);
  return program;
}

/** Configures all commands recursively; Commander does not pass these settings to commands added by `addCommand`. */
function configure(command: Command, writeHelp: (text: string) => void): void {
  command
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => writeHelp(asStarted(text)),
      writeErr: (text) => terminal().stderr.write(asStarted(text)),
    });
  for (const child of command.commands) configure(child, writeHelp);
}

/** Prints an error to stderr. @returns the exit code */
function report(error: unknown): number {
  if (error instanceof OutputFailed && error.isUnread) return EXIT_UNREAD;
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  if (error instanceof ConfigError) {
    writeErr('store-orders: the configuration is invalid:');
    for (const problem of error.problems) writeErr(`  ${problem}`);
    return EXIT_USAGE;
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UsageError) {
    writeErr(`store-orders: ${message}`);
    return EXIT_USAGE;
  }
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    writeErr('store-orders: the current folder does not exist any more; change to another one');
    return EXIT_FAILURE;
  }
  const isExpected =
    code === 'ENAMETOOLONG' ||
    error instanceof CommandFailed ||
    error instanceof OutputFailed ||
    error instanceof StoreNotUsable ||
    error instanceof StoreUnavailable ||
    error instanceof WebhookKeyUnusable ||
    // A listener could not bind: the port is in use, or the host is unknown or not local.
    ['listen', 'bind', 'getaddrinfo'].includes(syscall ?? '');
  writeErr(`store-orders: ${isExpected ? message : (error as Error).stack}`);
  if (syscall === 'getaddrinfo' || code === 'EADDRNOTAVAIL') {
    writeErr(
      'HOST (--host) and OPERATIONS_HOST (--operations-host) must be addresses or names of this machine, such as 127.0.0.1, or 0.0.0.0 for all.',
    );
  }
  if (code === 'EADDRINUSE') {
    writeErr(
      'Another program listens there, maybe store-orders itself. Choose another port: --port for the service, --operations-port for health and metrics.',
    );
  }
  return EXIT_FAILURE;
}
