import { inTime, timeLeft } from '../http/deadline.ts';
import type { Exchange } from '../http/exchange.ts';
import type { BatchCommand } from '../orders/batch.ts';
import { GIVE_UP_AFTER_MS } from '../store/batcher.ts';
import type { OutcomeOf } from '../store/commands.ts';

/** Carries out a command on an order in the next group commit; see Batcher.submit. */
export type Submit = <C extends BatchCommand>(command: C) => Promise<OutcomeOf<C>>;

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
