// Keeps all orders in the table orders of orders.db. It can be stopped and started again at any time.
import { DatabaseSync } from 'node:sqlite';
import { StoreOrders } from '@store-orders/client';
import { SqliteReplica } from './sqlite-replica.js';

const store = new StoreOrders({
  baseUrl: process.env.STORE_ORDERS_URL,
  apiKey: process.env.STORE_ORDERS_KEY,
});

const database = new DatabaseSync('orders.db');
// Other programs can read the table while it is written.
database.exec('PRAGMA journal_mode = WAL');
const copy = new SqliteReplica(database);
const counts = database.prepare('SELECT status, count(*) AS orders FROM orders GROUP BY status');

const ending = new AbortController();
process.once('SIGINT', () => ending.abort());
process.once('SIGTERM', () => ending.abort());

try {
  for await (const { revision } of store.replica({ store: copy, signal: ending.signal })) {
    const text = counts.all().map(({ status, orders }) => `${orders} ${status}`);
    console.log(`revision ${revision}: ${text.join(', ') || 'no orders'}`);
  }
} catch (error) {
  if (!ending.signal.aborted) throw error;
}
