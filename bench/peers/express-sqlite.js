// What people write by hand: Express and node:sqlite, one durable transaction for each cancel, without keys and history.
import { DatabaseSync } from 'node:sqlite';
import express from 'express';

const db = new DatabaseSync(process.argv[2]);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
const find = db.prepare('SELECT status FROM orders WHERE id = ?');
const cancel = db.prepare("UPDATE orders SET status = 'cancelled' WHERE id = ?");

const app = express();
app.delete('/v1/store/orders/:id', (request, response) => {
  db.exec('BEGIN IMMEDIATE');
  const order = find.get(BigInt(request.params.id));
  if (order?.status === 'pending') cancel.run(BigInt(request.params.id));
  db.exec('COMMIT');
  response.sendStatus(order === undefined ? 404 : order.status === 'pending' ? 204 : 409);
});
app.listen(Number(process.env.PORT), '127.0.0.1');
