import type { Log } from '../telemetry/logger.ts';

/** How often it is looked whether npm is still there. */
const PARENT_CHECK_INTERVAL_MS = 500;

/**
 * The first signal ends the service in good order, a second one at once.
 * @param limitMs from the first signal to the end, whatever is still under way
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

/** The end of the process, which takes a bounded time. */
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

  /** Again is no change. */
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
