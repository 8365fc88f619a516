import { accessSync, constants } from 'node:fs';
import type { Log } from '../telemetry/logger.ts';
import { type Config, needRestart } from './settings/config.ts';
import { ConfigError } from './settings/settings.ts';
import type { LogLevel } from './settings/table.ts';

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
