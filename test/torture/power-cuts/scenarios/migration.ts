import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { newSecret } from '../../../../src/domain/api-key.ts';
import { examineStore } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import type { Scenario } from '../scenario.ts';

const MIGRATIONS = fileURLToPath(new URL('../../../../src/store/migrations', import.meta.url));
/** The last schema without heads. */
const SCHEMA = 12;
const ORDERS = 30;
const DAY = Date.UTC(2026, 0, 1);
const SHIPPED = 3;

/** A service migrates a store of an earlier release, after a backup of it, and takes cancels. */
export const migration: Scenario = {
  name: 'a migration',
  record: async (root, shim) => {
    const secret = newSecret('production');
    makeOlderStore(join(root, 'store.db'), secret);
    const recording = new Recording(root, shim, secret);
    for (let id = 1; id <= ORDERS; id += 1) {
      const isShipped = id <= SHIPPED;
      recording.mayFind(`placed ${id}`, `shipped ${id}`);
      recording.claim({ type: 'order', id: String(id), status: isShipped ? 'shipped' : 'pending' });
    }
    const service = await recording.serve();
    for (let id = SHIPPED + 1; id <= SHIPPED + 3; id += 1) {
      recording.mayFind(`cancelled ${id}`);
      await service.request({ method: 'DELETE', path: `/v1/store/orders/${id}` });
    }
    await service.stop();
    return recording.end();
  },
  examine: (expected, random) =>
    examineStore(expected, random, {
      also: async (changes, get) => {
        for (const { type, by, at, order } of changes) {
          const id = Number(order.id);
          if (id > ORDERS || type === 'cancelled') continue;
          assert.equal(by, type === 'shipped' ? KEY : undefined, `by of order ${id}`);
          assert.equal(
            Date.parse(at),
            DAY + (type === 'shipped' ? ORDERS + id : id),
            `at of ${id}`,
          );
          assert.equal(order.quantity, BigInt(id), `quantity of order ${id}`);
          const isLate = type === 'shipped';
          assert.equal(
            Date.parse(order.shipDate),
            DAY + (isLate ? 2 : 1) * id * 1_000,
            `shipDate of ${id}`,
          );
          assert.equal(order.complete, isLate, `complete of order ${id}`);
        }
        const { body } = await get('/v2/key');
        assert.deepEqual(JSON.parse(body).scopes, SCOPES);
        assert.equal(JSON.parse(body).cancelsPerHour, 1_000);
        const pet = await get('/v1/pets/1');
        assert.deepEqual(JSON.parse(pet.body), { id: 1, name: 'Ada', tag: 'dog' });
      },
    }),
};

const KEY = 'key_torture00';
const SCOPES = ['orders:read', 'orders:place', 'orders:cancel', 'changes:read'];

/** Makes a store with the migrations of an earlier release, and a row of every kind. */
function makeOlderStore(path: string, secret: string): void {
  const db = new DatabaseSync(path);
  for (const name of globSync('*.sqlite.sql', { cwd: MIGRATIONS }).sort().slice(0, SCHEMA)) {
    db.exec(readFileSync(join(MIGRATIONS, name), 'utf8'));
  }
  const revision = ORDERS + SHIPPED;
  db.exec(`PRAGMA application_id = ${0x53544f52}; PRAGMA user_version = ${SCHEMA};
    UPDATE store SET environment = 'production', revision = ${revision}, shipped = ${SHIPPED}, pending = ${ORDERS - SHIPPED};
    INSERT INTO pets VALUES (1, 'Ada', 'dog')`);
  const insert = (
    table: string,
    row: Readonly<Record<string, string | number | Buffer | null>>,
  ) => {
    const names = Object.keys(row);
    const values = names.map(() => '?').join(', ');
    db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`).run(
      ...Object.values(row),
    );
  };
  insert('api_keys', {
    ...{ id: KEY, name: 'torture', environment: 'production', created_at: DAY },
    digest: createHash('sha256').update(secret).digest(),
    ...{ scopes: SCOPES.join(' '), cancels_per_hour: 1_000 },
  });
  for (let id = 1; id <= ORDERS; id += 1) {
    const isShipped = id <= SHIPPED;
    const [before, after] = [DAY + id * 1_000, DAY + 2 * id * 1_000];
    insert('orders', {
      ...{ id, status: isShipped ? 'shipped' : 'pending', pet_id: id, quantity: id },
      ship_date: isShipped ? after : before,
      complete: isShipped ? 1 : 0,
      revision: isShipped ? ORDERS + id : id,
    });
    insert('order_events', {
      revision: id,
      order_id: id,
      type: 'placed',
      at: DAY + id,
      previous: 0,
    });
    if (!isShipped) continue;
    insert('order_events', {
      ...{ revision: ORDERS + id, order_id: id, type: 'shipped', at: DAY + ORDERS + id, by: KEY },
      ...{ previous: id, ship_date_before: before, complete_before: 0 },
    });
  }
  db.close();
}
