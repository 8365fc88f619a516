import type { Order, Pet } from '../../protocol/generated/records.ts';
import { int64Text } from './arguments.ts';
import { Call, calling } from './call.ts';
import { elementsOf } from './list.ts';
import { open, send } from './request.ts';
import { repeated, repeatedChange } from './retries.ts';
import type { CallOptions, Settings } from './settings.ts';
import { stoppable } from './stoppable.ts';

/** An order of the list, always with an id. */
export type ListedOrder = Order & { readonly id: bigint };

/** Version 1 of the API: all orders that are not cancelled, and cancelling. */
export class StoreOrdersV1 {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Lists all orders that are not cancelled, in ascending id, as they arrive; only a part of the list is held in memory.
   * The list is a snapshot of the store. If it is incomplete, the iteration rejects with ConnectionError; start again.
   */
  listOrders(options: CallOptions = {}): AsyncGenerator<ListedOrder, void> {
    return stoppable(options, (following) => listedOrders(this.#settings, following));
  }

  /**
   * Cancels a pending order. The call also succeeds if the response to an attempt was lost and a retry shows that the order
   * is already cancelled.
   * @throws NotFoundError, also for an order that is cancelled already, ConflictError, LimitError, UnknownOutcomeError
   */
  async cancelOrder(id: bigint, options: CallOptions = {}): Promise<void> {
    const path = `/v1/store/orders/${int64Text(id, 'id')}`;
    const request = {
      operation: 'v1.cancelOrder',
      method: 'DELETE',
      path,
      expects: [204],
    } as const;
    await calling(this.#settings, options, (call) =>
      repeatedChange(call, {
        attempt: () => send(call, request, (reply) => reply.empty()),
        resultIn: ({ status, code }) =>
          (status === 404 && code === 'order_already_cancelled') || undefined,
      }),
    );
  }

  /**
   * Looks up a pet.
   * @deprecated The service announces its end in the Sunset header.
   * @throws NotFoundError, GoneError after its end
   */
  async getPet(id: bigint, options: CallOptions = {}): Promise<Pet> {
    const path = `/v1/pets/${int64Text(id, 'id')}`;
    const request = { operation: 'v1.getPet', method: 'GET', path, expects: [200] } as const;
    return calling(this.#settings, options, (call) =>
      repeated(call, () =>
        send(call, request, (reply) => reply.record<Pet>((pet: Pet) => pet.id === id)),
      ),
    );
  }
}

async function* listedOrders(
  settings: Settings,
  options: CallOptions,
): AsyncGenerator<ListedOrder, void> {
  const path = '/v1/store/orders';
  const request = { operation: 'v1.listOrders', method: 'GET', path, expects: [200] } as const;
  const call = new Call(settings, options);
  try {
    const reply = await repeated(call, () => open(call, request));
    try {
      for await (const order of elementsOf<ListedOrder>(reply.chunks())) {
        if (typeof order.id !== 'bigint') throw new SyntaxError('not an Order record');
        reply.progress();
        yield order;
      }
    } catch (error) {
      throw reply.failure(error, 'is not a list of orders');
    } finally {
      reply.close();
    }
  } finally {
    call.end();
  }
}
