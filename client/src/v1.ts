import type { Order, Pet } from '../../protocol/generated/records.ts';
import { Call, calling } from './call.ts';
import { parse } from './exact-json.ts';
import { open, requestOf, send } from './request.ts';
import { changed, repeated } from './retries.ts';
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
    const request = requestOf('v1.cancelOrder', { id });
    await changed(this.#settings, options, request, (reply) => reply.empty(), {
      resultIn: ({ status, code }) =>
        (status === 404 && code === 'order_already_cancelled') || undefined,
    });
  }

  /**
   * Looks up a pet.
   * @deprecated The service announces its end in the Sunset header.
   * @throws NotFoundError, GoneError after its end
   */
  async getPet(id: bigint, options: CallOptions = {}): Promise<Pet> {
    const request = requestOf('v1.getPet', { id, isMeant: (pet) => pet.id === id });
    return calling(this.#settings, options, (call) =>
      repeated(call, () => send(call, request, (reply) => reply.record())),
    );
  }
}

async function* listedOrders(
  settings: Settings,
  options: CallOptions,
): AsyncGenerator<ListedOrder, void> {
  const call = new Call(settings, options);
  try {
    const reply = await repeated(call, () => open(call, requestOf('v1.listOrders')));
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

/** Strings, a string that is not closed yet, and brackets. */
const TOKENS = /"(?:[^"\\]|\\.)*"|"|[{}[\]]/g;

/** Maximum length of an element; those of the service have a few hundred bytes. */
const MAX_ELEMENT_LENGTH = 1024 * 1024;

/**
 * Parses a JSON array of objects as it arrives, holding only the text that is not parsed yet.
 * @throws SyntaxError if the text is not such an array, or is incomplete; RangeError if an element is longer than
 *   MAX_ELEMENT_LENGTH
 */
export async function* elementsOf<T>(chunks: AsyncIterable<string>): AsyncGenerator<T, void> {
  let text = '';
  let isOpen = false;
  let isClosed = false;
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > MAX_ELEMENT_LENGTH + chunk.length)
      throw new RangeError('an element is too long');
    if (!isOpen) {
      if (text.trimStart() === '') continue;
      if (text.trimStart()[0] !== '[') throw new SyntaxError('this is not a list');
      text = text.slice(text.indexOf('[') + 1);
      isOpen = true;
    }
    const { end, closesList } = lastElement(text);
    const elements = text.slice(0, end).replace(/^\s*,/, '');
    text = text.slice(end);
    if (elements.trim() !== '') yield* parse(`[${elements}]`) as T[];
    isClosed ||= closesList;
  }
  if (!isClosed) throw new SyntaxError('the list ended before its last order');
}

/** Returns where the last whole element ends, and whether the end of the list follows. */
function lastElement(text: string): { end: number; closesList: boolean } {
  let [depth, end] = [0, 0];
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '"') break;
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') {
      if (depth === 0) {
        // Between the elements, which are objects, only white space is valid.
        if (text.slice(end, index).trim() !== '') throw new SyntaxError('this is not a list');
        return { end, closesList: true };
      }
      depth -= 1;
      if (depth === 0) end = index + 1;
    }
  }
  return { end, closesList: false };
}
