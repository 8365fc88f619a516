import { Mutex } from '../concurrency/mutex.ts';
import type { BatchCommand } from '../domain/batch.ts';
import { inTime, timeLeft } from '../http/request/deadline.ts';
import type { Exchange } from '../http/request/exchange.ts';
import type { OutcomeOf } from '../store/commands.ts';
import { GIVE_UP_AFTER_MS, NotConfirmed } from '../store/group-commit.ts';

/** Carries out a command on an order in the next group commit; see GroupCommit.submit. */
export type Submit = <C extends BatchCommand>(command: C) => Promise<OutcomeOf<C>>;

/** Submits a command for many orders, and waits for its outcome until the deadline of the request. */
export type SubmitMany = <C extends BatchCommand>(
  exchange: Exchange,
  command: C,
) => Promise<OutcomeOf<C>>;

/**
 * Returns a function that submits commands for many orders one after another: more of them in a batch, or waiting for one, would leave no
 * room for the commands of other requests.
 */
export function oneAtATime(submit: Submit): SubmitMany {
  const mutex = new Mutex();
  return (exchange, command) =>
    inTime(exchange, () =>
      mutex.run(async () => {
        // The client has got a 503 already.
        if (timeLeft(exchange) <= 0) throw new NotConfirmed('too many commands are waiting');
        return submit(command);
      }),
    );
}

/**
 * Submits a command and waits for its outcome until the deadline of the request.
 * @throws TimedOut, NotConfirmed: the outcome is unknown
 */
export function submitInTime<C extends BatchCommand>(
  exchange: Exchange,
  submit: Submit,
  command: C,
): Promise<OutcomeOf<C>> {
  // A timer per request would take a thirtieth of the time of a cancel, and the batch has one.
  if (timeLeft(exchange) >= GIVE_UP_AFTER_MS) return submit(command);
  return inTime(exchange, () => submit(command));
}
