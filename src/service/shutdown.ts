import type { Log } from '../telemetry/logger.ts';

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
