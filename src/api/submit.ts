import { Mutex } from '../concurrency.ts';
import type { ApiKey } from '../domain/api-key.ts';
import type { BatchCommand } from '../domain/batch.ts';
import type { OrderId } from '../domain/order.ts';
import { expectTime, inTime, timeLeft } from '../http/request/exchange.ts';
import { type ErrorReply, refuse } from '../http/request/reply.ts';
import type { OutcomeOf, StoreCommand } from '../store/commands.ts';
import { GIVE_UP_AFTER_MS } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';

/** When a request must be answered, by performance.now(). */
interface Timed {
  readonly answerBy: number;
}

/** Carries out a command on an order in the next group commit; see GroupCommit.submit. @throws TimedOut after the deadline */
export type Submit = <C extends BatchCommand>(request: Timed, command: C) => Promise<OutcomeOf<C>>;

/**
 * Returns a function that submits the commands of requests, unless their time is up. Group commit limits their time too, so only a request that
 * has less than that left needs a limit of its own, which would add a twentieth to the time of a cancel.
 */
export function submitting(
  submit: <C extends BatchCommand>(command: C) => Promise<OutcomeOf<C>>,
): Submit {
  return (request, command) => {
    expectTime(request);
    if (timeLeft(request) > GIVE_UP_AFTER_MS) return submit(command);
    return inTime(request, () => submit(command));
  };
}

/**
 * Returns a function that submits commands for many orders one after another. Several of them at once would leave no room in the batches for the
 * commands of other requests.
 */
export function oneAtATime(submit: Submit): Submit {
  const mutex = new Mutex();
  return (request, command) => mutex.run(async () => submit(request, command));
}

/** Carries out a command of a request on keys or webhooks. @throws TimedOut if its time was up before */
export async function applied<C extends StoreCommand>(
  request: Timed,
  store: Pick<Store, 'apply'>,
  command: C,
): Promise<OutcomeOf<C>> {
  expectTime(request);
  const [outcome] = await store.apply([command]);
  return outcome!;
}

/** The command that cancels an order for the client with this key. */
export function cancellation({ id: by, cancelsPerHour }: ApiKey, id: OrderId) {
  // Most keys have no limit. Each field of a command is copied to the writer's thread.
  const limit = cancelsPerHour === undefined ? undefined : { cancelsPerHour };
  return { type: 'cancel', id, by, ...limit } as const;
}

/** 429 with Retry-After. @param retryAt when the key may cancel or place again, in milliseconds since the epoch */
export function limitReached(
  refusal: 'cancel_limit_reached' | 'place_limit_reached',
  retryAt: number,
): ErrorReply {
  return refuse(refusal, ['retry-after', secondsUntil(retryAt)]);
}

/** The value of Retry-After. @param at milliseconds since the epoch */
export function secondsUntil(at: number): string {
  return String(Math.max(1, Math.ceil((at - Date.now()) / 1000)));
}
