import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Call, type Json, parse } from '../../http.ts';
import type { Claim } from '../claims.ts';
import { command, examineStore, type Get, whileServed } from '../examine-store.ts';
import { Recording } from '../recording.ts';
import { makeStore, type Scenario } from '../scenario.ts';

const ORDERS = 40;
/** Placements before the move. What they may be repeated with is kept in tables of their own. */
const PLACEMENTS: readonly Call[] = [
  { key: 'move-1', body: '{"petId":101,"quantity":1}' },
  { key: 'move-2', body: '{"petId":102,"quantity":1,"reference":"move"}' },
].map(({ key, body }) => ({
  ...{ method: 'POST', path: '/v2/store/orders', headers: { 'idempotency-key': key }, body },
}));
const MOVE = ['copy', '--from', 'sqlite:store.db', '--to', 'sqlite:moved.db'];
const REACTIVATE = ['reactivate', '--database', 'sqlite:store.db'];

/** A store is moved to another database: there are never two, and never none that can be had by running the command again. */
export const copy: Scenario = {
  name: 'a copy',
  record: async (root, shim) => {
    const recording = await ofStore(root, shim);
    await recording.command(MOVE, { claims: [{ type: 'done', what: 'moved' }] });
    const service = await recording.serve({ file: 'moved.db' });
    await service.request({ method: 'DELETE', path: '/v1/store/orders/2' });
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    const isMoved = has(expected.claims, 'moved');
    const wasMoved = await isMarked();
    assert.ok(wasMoved || !isMoved, 'the old store is not marked as moved');
    if (!wasMoved && random.chance(0.5)) {
      // The operator does without the move.
      await examineStore(expected, random, { also: expectRepeatable });
      return;
    }
    if (wasMoved) renameTarget();
    const again = await command(MOVE);
    const isThere = await isStore('moved.db');
    assert.ok(isThere, `the copy cannot be completed: ${again.output}`);
    assert.ok(await isMarked(), 'both stores can be written to');
    await examineStore(expected, random, { file: 'moved.db', also: expectRepeatable });
  },
};

/** A store that was moved is reactivated, and used again. */
export const reactivate: Scenario = {
  name: 'a reactivation',
  record: async (root, shim) => {
    const recording = await ofStore(root, shim, async () => {
      const moved = await command(MOVE.map((each) => each.replace('sqlite:', `sqlite:${root}/`)));
      assert.equal(moved.code, 0, moved.output);
    });
    await recording.command(REACTIVATE, { claims: [{ type: 'done', what: 'reactivated' }] });
    const service = await recording.serve();
    await service.request({ method: 'DELETE', path: '/v1/store/orders/2' });
    await service.stop();
    return recording.end();
  },
  examine: async (expected, random) => {
    const isDone = has(expected.claims, 'reactivated');
    assert.ok(!isDone || !(await isMarked()), 'the store is still marked as moved');
    const { code, output } = await command(REACTIVATE);
    assert.equal(code, 0, output);
    await examineStore(expected, random, { also: expectRepeatable });
  },
};

async function ofStore(root: string, shim: string, prepare = async () => {}): Promise<Recording> {
  const secret = await makeStore(join(root, 'store.db'), ORDERS);
  await whileServed(join(root, 'store.db'), secret, async (get) => {
    for (const call of PLACEMENTS) assert.equal((await get(call.path, call)).status, 201);
  });
  await prepare();
  const recording = new Recording(root, shim, secret);
  recording.mayFind('placed 101', 'placed 102');
  for (let id = 1; id <= ORDERS; id += 1) {
    recording.mayFind(`placed ${id}`);
    recording.claim({ type: 'order', id: String(id), status: 'pending' });
  }
  recording.mayFind('cancelled 2');
  return recording;
}

/** A placement is known: the same one again is answered with the same order, also under another key if it has a reference. */
async function expectRepeatable(changes: readonly Json[], get: Get): Promise<void> {
  const repeat = async (call: Call, status: number) => {
    const answer = await get(call.path, call);
    assert.equal(answer.status, status, answer.body);
    const { petId } = parse(call.body!);
    const placed = changes.find(({ order }) => order.petId === petId);
    assert.equal(parse(answer.body).id, placed?.order.id, 'a placement was made again');
  };
  for (const call of PLACEMENTS) await repeat(call, 201);
  await repeat({ ...PLACEMENTS[1]!, headers: { 'idempotency-key': 'move-3' } }, 200);
}

function has(claims: readonly Claim[], what: string): boolean {
  return claims.some((each) => each.type === 'done' && each.what === what);
}

async function isMarked(): Promise<boolean> {
  const { code, output } = await command(['check', '--json', '--database', 'sqlite:store.db']);
  assert.equal(code, 0, output);
  return JSON.parse(output).movedTo !== undefined;
}

/** The mark of a move has the path of the target, which is another one here than where it was recorded. */
function renameTarget(): void {
  const db = new DatabaseSync('store.db');
  db.prepare('UPDATE store SET moved_to = ?').run(`sqlite:${resolve('moved.db')}`);
  db.close();
}

async function isStore(file: string): Promise<boolean> {
  return existsSync(file) && (await command(['check', '--database', `sqlite:${file}`])).code === 0;
}
