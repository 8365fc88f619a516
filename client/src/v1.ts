import { int64Text } from './arguments.ts';
import { NotFoundError } from './errors.ts';
import { elementsOf } from './list.ts';
import type { Order, Pet } from './records.ts';
import { send } from './request.ts';
import { repeated, repeatedChange } from './retries.ts';
import type { CallOptions, Settings } from './settings.ts';

/** An order of the list; all of them have an id. */
export type ListedOrder = Order & { readonly id: bigint };

/** Version 1 of the API: all orders that are not cancelled, and cancelling. */
export class StoreOrdersV1 {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * Lists all orders that are not cancelled, in ascending id, as they arrive: of a list of any length, a part is held.
   * It shows the store at one moment. A list that breaks off rejects with ConnectionError; begin again.
   */
  async *listOrders({ signal }: CallOptions = {}): AsyncGenerator<ListedOrder, void> {
    const path = '/v1/store/orders';
    const reply = await repeated(this.#settings, signal, () =>
      send(this.#settings, { method: 'GET', path, expects: [200], signal }),
    );
    yield* elementsOf<ListedOrder>(reply.chunks());
  }

  /**
   * Cancels a pending order. If the answer of an attempt was lost, and the repetition says that the order is cancelled
   * already, the call succeeds.
   * @throws NotFoundError, also for an order that is cancelled already, ConflictError, LimitError
   */
  async cancelOrder(id: bigint, { signal }: CallOptions = {}): Promise<void> {
    const path = `/v1/store/orders/${int64Text(id, 'id')}`;
    await repeatedChange(
      this.#settings,
      signal,
      () => send(this.#settings, { method: 'DELETE', path, expects: [204], signal }),
      (error) => error instanceof NotFoundError && error.code === 'order_already_cancelled',
    );
  }

  /**
   * Looks up a pet.
   * @deprecated The service announces its end in the Sunset header.
   * @throws NotFoundError, GoneError after its end
   */
  async getPet(id: bigint, { signal }: CallOptions = {}): Promise<Pet> {
    const path = `/v1/pets/${int64Text(id, 'id')}`;
    return repeated(this.#settings, signal, async () => {
      const reply = await send(this.#settings, { method: 'GET', path, expects: [200], signal });
      return (await reply.json()) as Pet;
    });
  }
}
