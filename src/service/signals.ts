import { accessSync, constants } from 'node:fs';
import type { Logger } from 'pino';
import type { Log } from '../telemetry/logger.ts';
import type { Service } from './service.ts';
import { type Config, needRestart } from './settings/config.ts';
import { ConfigError } from './settings/reader.ts';

/** How often the parent process, npm, is checked. */
const PARENT_CHECK_INTERVAL_MS = 500;

interface Running {
  readonly service: Service;
  readonly admin: { close(): Promise<void> };
  /** Reads the configuration as it is now. @throws ConfigError */
  readonly read: () => Config;
}

/**
 * SIGTERM and SIGINT stop the service, SIGUSR2 changes the log level, SIGHUP rereads the settings. Windows has no SIGUSR2, and there a closed
 * console sends SIGHUP.
 */
export function handleSignals(started: Config, log: Log, running: Running) {
  const { service, admin } = running;
  const stop = async () => {
    await service.drain(started.drainMs);
    await service.close();
    await admin.close();
  };
  const shutdown = shutdownOnSignal(log, stop, started.drainMs + started.stopLimitMs);
  const isWindows = process.platform === 'win32';
  let config = started;
  if (!isWindows) process.on('SIGUSR2', () => toggleLevel(log.logger, config.logLevel));
  // SIGHUP stops a service whose terminal is closed.
  if (process.stdout.isTTY) process.on('SIGHUP', () => shutdown.begin('SIGHUP'));
  else if (!isWindows) {
    process.on('SIGHUP', () => {
      config = reread(started, config, log, running);
    });
  }
  return shutdown;
}

/**
 * Shuts down gracefully on the first SIGTERM or SIGINT, or when npm exits; exits immediately on a second signal.
 * @param limitMs maximum time from the first signal to exit, even with requests in flight
 */
function shutdownOnSignal({ logger, end }: Log, stop: () => Promise<void>, limitMs: number) {
  const exit = (code: number, message: string) => {
    logger.info(message);
    void end().then(() => process.exit(code));
  };
  const shutdown = {
    hasBegun: false,
    /** Idempotent. */
    begin: (reason: string) => {
      if (shutdown.hasBegun) return;
      shutdown.hasBegun = true;
      logger.info({ reason }, 'stopping');
      setTimeout(() => exit(1, 'stopped; remaining requests were cut off'), limitMs);
      stop().then(
        () => exit(0, 'stopped'),
        (error) => {
          logger.error({ err: error }, 'stopping failed');
          exit(1, 'stopped');
        },
      );
    },
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (shutdown.hasBegun) exit(1, 'stopped at once by a second signal');
      else shutdown.begin(signal);
    });
  }
  whenNpmIsGone(() => shutdown.begin('npm was stopped'));
  return shutdown;
}

/**
 * Calls `then` when the parent process exits, if npm started the process. npm start and npx run it in a shell and do not forward SIGTERM. They
 * and the shell would exit, and the process would keep running and hold the port.
 */
function whenNpmIsGone(then: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    then();
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}

/**
 * Rereads, on SIGHUP, what can change while the service runs: the log level, the origins of browsers, the log file (after it was renamed, as
 * logrotate does), and the files of passwords and certificates, which new connections use. Logs the result, and which changed settings need a
 * restart. If a setting is not valid, the service continues with the previous settings.
 * @returns the configuration that is in effect afterwards
 */
function reread(started: Config, before: Config, log: Log, { service, read }: Running): Config {
  const { logger } = log;
  const logFile = log.reopen();
  let now: Config;
  try {
    now = read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    logger.error(
      { problems },
      'the settings are invalid and were not reread; correct them and send SIGHUP again',
    );
    return before;
  }
  const certificates = now.database.certificates();
  const what = {
    logLevel: now.logLevel,
    corsOrigins: now.corsOrigins,
    logFile: logFile?.path ?? 'none',
    databaseUrlFile: now.databaseUrlFile ?? 'none',
    certificates,
    needRestart: needRestart(started, now),
  };
  service.cors.allow(now.corsOrigins);
  // Logged at either level, since one of them may be higher than info.
  logger.level = 'info';
  logger.info(what, 'reread the settings');
  if (logFile?.problem !== undefined) {
    logger.warn(
      logFile,
      'the log file cannot be reopened: the log continues in the file that is open',
    );
  }
  for (const path of certificates) {
    const problem = problemOf(path);
    if (problem !== undefined) {
      logger.warn({ path, problem }, 'a file for new connections to the database cannot be read');
    }
  }
  logger.level = now.logLevel;
  return now;
}

function problemOf(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Toggles the level between the configured one and debug, or info if debug or trace is configured. */
function toggleLevel(logger: Logger, configured: Config['logLevel']): void {
  const other = configured === 'debug' || configured === 'trace' ? 'info' : 'debug';
  const level = logger.level === configured ? other : configured;
  // The change is logged even if neither level includes info.
  logger.level = 'debug';
  logger.info({ logLevel: level }, 'changed the log level');
  logger.level = level;
}
