import type { Logger } from 'pino';

/**
 * Toggles the log level on SIGUSR2: between the configured level and debug, or info if debug or trace is configured.
 * Does nothing on Windows, which has no such signal.
 */
export function changeLogLevelOnSignal(logger: Logger): void {
  if (process.platform === 'win32') return;
  const configured = logger.level;
  const other = configured === 'debug' || configured === 'trace' ? 'info' : 'debug';
  process.on('SIGUSR2', () => {
    const level = logger.level === configured ? other : configured;
    // Log the change even if neither level includes info.
    logger.level = 'debug';
    logger.info({ logLevel: level }, 'changed the log level');
    logger.level = level;
  });
}
