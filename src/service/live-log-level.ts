import type { Logger } from 'pino';
import type { LogLevel } from './settings/table.ts';

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
