import type { Logger } from 'pino';

/** From the first signal to the end, whatever is still under way. */
const SHUTDOWN_LIMIT_MS = 10_000;

/** The first signal ends the service in good order, a second one at once. */
export function stopOnSignal(logger: Logger, flush: () => void, stop: () => Promise<void>): void {
  let isStopping = false;
  const exit = (code: number, message: string) => {
    logger.info(message);
    flush();
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) exit(1, 'stopped at once by a second signal');
      isStopping = true;
      logger.info({ signal }, 'stopping');
      setTimeout(() => exit(1, 'stopped with requests still under way'), SHUTDOWN_LIMIT_MS);
      stop().then(
        () => exit(0, 'stopped'),
        (error) => {
          logger.error({ err: error }, 'stopping failed');
          exit(1, 'stopped');
        },
      );
    });
  }
}
