// Places an order once, whatever is lost on the way, and cancels it: node place-and-cancel.js PET
import { randomUUID } from 'node:crypto';
import { ConflictError, StoreOrders, UnknownOutcomeError } from '@store-orders/client';

const store = new StoreOrders({
  baseUrl: process.env.STORE_ORDERS_URL,
  apiKey: process.env.STORE_ORDERS_KEY,
});

// A shop keeps this key with the cart before the first attempt: it can then repeat the call after a crash, too.
const idempotencyKey = randomUUID();
const petId = BigInt(process.argv[2] ?? 412);

async function place() {
  for (;;) {
    try {
      return await store.placeOrder({ petId, quantity: 1n }, { idempotencyKey });
    } catch (error) {
      // The library has repeated the request already; the store may be down for longer.
      if (!(error instanceof UnknownOutcomeError)) throw error;
      console.error(`not known yet whether the order was placed: ${error.message}`);
    }
  }
}

const order = await place();
console.log(`order ${order.id} is ${order.status}`);
try {
  const { status } = await store.cancelOrder(order.id, { reason: 'customer_request' });
  console.log(`order ${order.id} is ${status}`);
} catch (error) {
  // It has shipped, or was cancelled with another key.
  if (!(error instanceof ConflictError)) throw error;
  console.log(`order ${order.id} was not cancelled: ${error.code}`);
}
