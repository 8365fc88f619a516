// What people write by hand for v2 on node:http and node:sqlite: pages by id, one order, placing, and pages of events.
// Durable like store-orders (WAL, synchronous FULL), with one transaction for each request, and without keys.
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

const db = new DatabaseSync(process.argv[2]!);
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
db.exec(`CREATE TABLE IF NOT EXISTS placements_by_hand (key TEXT PRIMARY KEY, order_id INTEGER);
  CREATE INDEX IF NOT EXISTS events_by_hand ON order_events (revision, order_id)`);
const page = db.prepare('SELECT * FROM orders WHERE id > ? ORDER BY id LIMIT 100');
const one = db.prepare('SELECT * FROM orders WHERE id = ?');
const events =
  db.prepare(`SELECT e.*, o.* FROM order_events AS e JOIN orders AS o ON o.id = e.order_id
  WHERE (e.revision, e.order_id) > (?, ?) ORDER BY e.revision, e.order_id LIMIT 500`);
const known = db.prepare('SELECT order_id FROM placements_by_hand WHERE key = ?');
const insert = db.prepare(`INSERT INTO orders (status, pet_id, quantity, revision)
  VALUES ('pending', ?, ?, 0) RETURNING id`);
const remember = db.prepare('INSERT INTO placements_by_hand VALUES (?, ?)');

/** Rows as people send them. */
function shown(row: Record<string, unknown>): object {
  const date = (value: unknown) => (value === null ? null : new Date(Number(value)).toISOString());
  return {
    ...row,
    ship_date: date(row.ship_date),
    ...(row.at !== undefined && { at: date(row.at) }),
  };
}

function place(key: string, body: string): unknown {
  db.exec('BEGIN IMMEDIATE');
  const before = known.get(key);
  if (before === undefined) {
    const { petId, quantity } = JSON.parse(body);
    remember.run(key, insert.get(petId, quantity)!.id as number);
  }
  db.exec('COMMIT');
  return one.get(known.get(key)!.order_id as number);
}

createServer((request, response) => {
  const url = new URL(request.url!, 'http://x');
  const after = Number(url.searchParams.get('after') ?? 0);
  const send = (status: number, value: unknown) => {
    const body = Buffer.from(JSON.stringify(value));
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': body.length,
    });
    response.end(body);
  };
  if (request.method === 'POST') {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => send(201, place(String(request.headers['idempotency-key']), body)));
  } else if (url.pathname.endsWith('/changes')) {
    const found = events.all(after, Number(url.searchParams.get('id') ?? 0));
    const last = found.at(-1);
    send(200, { changes: found.map(shown), after: last?.revision, id: last?.order_id });
  } else if (url.pathname.endsWith('/orders')) send(200, { orders: page.all(after).map(shown) });
  else send(200, shown(one.get(Number(url.pathname.split('/').at(-1)))!));
}).listen(Number(process.env.PORT), '127.0.0.1');
