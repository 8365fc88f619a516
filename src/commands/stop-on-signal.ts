import type { Log } from '../http/logging.ts';

/** From the first signal to the end, whatever is still under way. */
const SHUTDOWN_LIMIT_MS = 10_000;
/** How often it is looked whether npm is still there. */
const PARENT_CHECK_INTERVAL_MS = 500;

/** The first signal ends the service in good order, a second one at once. */
export function stopOnSignal({ logger, end }: Log, stop: () => Promise<void>): void {
  let isStopping = false;
  const exit = (code: number, message: string) => {
    logger.info(message);
    void end().then(() => process.exit(code));
  };
  const begin = (reason: string) => {
    isStopping = true;
    logger.info({ reason }, 'stopping');
    setTimeout(() => exit(1, 'stopped with requests still under way'), SHUTDOWN_LIMIT_MS);
    stop().then(
      () => exit(0, 'stopped'),
      (error) => {
        logger.error({ err: error }, 'stopping failed');
        exit(1, 'stopped');
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) exit(1, 'stopped at once by a second signal');
      else begin(signal);
    });
  }
  whenNpmIsGone(() => {
    if (!isStopping) begin('npm was stopped');
  });
}

/**
 * npm start and npx run us in a shell and do not hand a SIGTERM on: they end, the shell ends, and we
 * would stay behind with the port.
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
