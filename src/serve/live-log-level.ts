import type { Logger } from 'pino';

/** SIGUSR2 has more logged, and the next one as much as before. Not on Windows, which has no such signal. */
export function changeLogLevelOnSignal(logger: Logger): void {
  if (process.platform === 'win32') return;
  const configured = logger.level;
  const other = configured === 'debug' || configured === 'trace' ? 'info' : 'debug';
  process.on('SIGUSR2', () => {
    const level = logger.level === configured ? other : configured;
    // Said whichever of the two is the quieter one.
    logger.level = 'debug';
    logger.info({ logLevel: level }, 'changed the log level');
    logger.level = level;
  });
}
