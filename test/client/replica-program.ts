// Keeps a replica in a database: node replica-program.ts DATABASE, with STORE_ORDERS_URL and STORE_ORDERS_KEY.
import { DatabaseSync } from 'node:sqlite';
import { StoreOrders } from '../../client/src/client.ts';
import { SqliteReplica } from '../../examples/sqlite-replica.js';

const { STORE_ORDERS_URL: baseUrl, STORE_ORDERS_KEY: apiKey } = process.env;
const client = new StoreOrders({ baseUrl: baseUrl!, apiKey: apiKey!, longestWaitMs: 500 });
const database = new DatabaseSync(process.argv[2]!);
database.exec('PRAGMA journal_mode = WAL');
const store = new SqliteReplica(database);
for await (const { revision } of client.replica({ store })) void revision;
