import { accessSync, constants } from 'node:fs';
import type { Logger } from 'pino';
import type { Log } from '../telemetry/logger.ts';
import { type Config, needRestart } from './settings/config.ts';
import { ConfigError } from './settings/settings.ts';
import type { LogLevel } from './settings/table.ts';

/** How often the parent process, npm, is checked. */
const PARENT_CHECK_INTERVAL_MS = 500;

/**
 * Shuts down gracefully on the first SIGTERM or SIGINT, or when npm exits; exits immediately on a second signal.
 * @param limitMs maximum time from the first signal to exit, even with requests in flight
 */
export function shutdownOnSignal(log: Log, stop: () => Promise<void>, limitMs: number): Shutdown {
  const ending = new Shutdown(log, stop, limitMs);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (ending.hasBegun) ending.exit(1, 'stopped at once by a second signal');
      else ending.begin(signal);
    });
  }
  whenNpmIsGone(() => ending.begin('npm was stopped'));
  return ending;
}

/** Shutdown of the process, in bounded time. */
class Shutdown {
  readonly #log: Log;
  readonly #stop: () => Promise<void>;
  readonly #limitMs: number;
  hasBegun = false;

  constructor(log: Log, stop: () => Promise<void>, limitMs: number) {
    this.#log = log;
    this.#stop = stop;
    this.#limitMs = limitMs;
  }

  /** Idempotent. */
  begin(reason: string): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { logger } = this.#log;
    logger.info({ reason }, 'stopping');
    setTimeout(() => this.exit(1, 'stopped; remaining requests were cut off'), this.#limitMs);
    this.#stop().then(
      () => this.exit(0, 'stopped'),
      (error) => {
        logger.error({ err: error }, 'stopping failed');
        this.exit(1, 'stopped');
      },
    );
  }

  exit(code: number, message: string): void {
    this.#log.logger.info(message);
    void this.#log.end().then(() => process.exit(code));
  }
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

interface RereadParts {
  readonly log: Log;
  /** Reads the configuration as it is now. @throws ConfigError */
  readonly read: () => Config;
  readonly setLogLevel: (level: LogLevel) => void;
  readonly setOrigins: (origins: readonly string[]) => void;
}

/**
 * Rereads, on SIGHUP, what can change while the service runs: the log level, the origins of browsers, the log file (after it was renamed, as
 * logrotate does), and the files of passwords and certificates, which new connections use. Logs the result, and which changed settings need a
 * restart. If a setting is not valid, the service continues with the previous settings. Does nothing on Windows, where a closed console sends
 * this signal.
 */
export function rereadOnSignal(started: Config, parts: RereadParts): void {
  if (process.platform === 'win32') return;
  let config = started;
  process.on('SIGHUP', () => {
    config = reread(started, config, parts);
  });
}

/** Returns the configuration that is in effect afterwards. */
function reread(started: Config, before: Config, parts: RereadParts): Config {
  const { log, read, setLogLevel, setOrigins } = parts;
  const logFile = log.reopen();
  let now: Config;
  try {
    now = read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    log.logger.error(
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
  setOrigins(now.corsOrigins);
  // Logged at either level, since one of them may be higher than info.
  setLogLevel('info');
  log.logger.info(what, 'reread the settings');
  if (logFile?.problem !== undefined) {
    log.logger.warn(
      logFile,
      'the log file cannot be reopened: the log continues in the file that is open',
    );
  }
  for (const path of certificates) {
    const problem = problemOf(path);
    if (problem !== undefined) {
      log.logger.warn(
        { path, problem },
        'a file for new connections to the database cannot be read',
      );
    }
  }
  setLogLevel(now.logLevel);
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

/** The log level, which can change while the service runs. */
export class LiveLogLevel {
  readonly #logger: Logger;
  #configured: LogLevel;

  constructor(logger: Logger, configured: LogLevel) {
    this.#logger = logger;
    this.#configured = configured;
  }

  /** Logs at another level from now on. */
  configure(level: LogLevel): void {
    this.#configured = level;
    this.#logger.level = level;
  }

  /**
   * Toggles the level on SIGUSR2: between the configured level and debug, or info if debug or trace is configured.
   * Does nothing on Windows, which has no such signal.
   */
  toggleOnSignal(): void {
    if (process.platform === 'win32') return;
    process.on('SIGUSR2', () => this.#toggle());
  }

  #toggle(): void {
    const configured = this.#configured;
    const other = configured === 'debug' || configured === 'trace' ? 'info' : 'debug';
    const level = this.#logger.level === configured ? other : configured;
    // The change is logged even if neither level includes info.
    this.#logger.level = 'debug';
    this.#logger.info({ logLevel: level }, 'changed the log level');
    this.#logger.level = level;
  }
}
