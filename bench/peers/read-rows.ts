// How long node:sqlite takes to read all orders as arrays, in milliseconds.
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2]!, {
  readOnly: true,
  readBigInts: true,
  returnArrays: true,
});
const begin = performance.now();
db.prepare('SELECT * FROM orders').all();
process.stdout.write(String(performance.now() - begin));
