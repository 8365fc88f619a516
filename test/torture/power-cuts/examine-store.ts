import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { Service } from '../../../src/service/service.ts';
import { readConfig } from '../../../src/service/settings/config.ts';
import { createLogger } from '../../../src/telemetry/logger.ts';
import { run } from '../../process/program.ts';
import { type Answer, type Call, type Json, parse, send } from '../http.ts';
import type { Random } from '../random.ts';
import { type Claim, digestOf, type Expected } from './claims.ts';

const LIMIT_MS = 20_000;
const PAGE = 500;

export interface Examination {
  /** The database, below the current folder. */
  readonly file?: string;
  /** Whether the store may lack the latest changes: it is a backup, or one was restored. */
  readonly mayBeOlder?: boolean;
  /** Examines the service further. @param changes all changes of the feed */
  readonly also?: (changes: readonly Json[], get: Get) => Promise<void>;
}

/** Sends a request to the service on an image. */
export type Get = (
  path: string,
  call?: Partial<Call>,
) => Promise<{ status: number; etag: string; body: string }>;

/**
 * Starts the program on the store in the current folder, and checks that it has everything that was acknowledged and nothing that was not
 * requested, that its parts agree, that ETags and cursors are valid, and that the next order gets a new id.
 * @throws AssertionError
 */
export async function examineStore(
  expected: Expected,
  random: Random,
  { file = 'store.db', mayBeOlder = false, also = async () => {} }: Examination = {},
): Promise<void> {
  const secret = latest(expected.claims, 'secret')?.secret ?? expected.secret;
  await whileServed(file, secret, async (get) => {
    // Before its first key was printed, a store has none that anybody knows.
    if (secret === '') return;
    const changes = await examineService(get, expected, random, mayBeOlder);
    await also(changes, get);
  });
  await expectSound(file);
}

/** Serves a store in this process until `use` has ended. @param secret of the key that requests have */
export async function whileServed(
  file: string,
  secret: string,
  use: (get: Get) => Promise<void>,
): Promise<void> {
  const config = readConfig({ DATABASE_URL: `sqlite:${file}`, PORT: '0', LOG_LEVEL: 'silent' });
  const service = new Service(config, createLogger('silent', { write: () => {} }));
  const agent = new Agent({ keepAlive: true });
  try {
    await service.open(() => {});
    const { port } = await service.listen();
    await use(async (path, call = {}) => {
      const sent = { method: 'GET', path, secret, ...call };
      const until = performance.now() + LIMIT_MS;
      let answer: Answer;
      // A busy machine does not answer in time.
      do answer = await send({ port, agent, limitMs: LIMIT_MS }, sent);
      while (answer.status === 503 && performance.now() < until);
      const { status, headers, body } = answer;
      return { status, etag: String(headers.etag), body };
    });
  } finally {
    agent.destroy();
    await service.close();
  }
}

/** @throws AssertionError if "check" reports a problem */
export async function expectSound(file: string): Promise<void> {
  const { code, output } = await command(['check', '--database', `sqlite:${file}`]);
  assert.equal(code, 0, `check: ${output}`);
}

/** Runs a command in this process. @returns all that it printed */
export async function command(args: readonly string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await run(args);
  return { code: code!, output: stdout + stderr };
}

async function examineService(
  get: Get,
  { claims, requested }: Expected,
  random: Random,
  mayBeOlder: boolean,
): Promise<Json[]> {
  const changes = await readFeed(get);
  const states = new Map<string, Json>();
  for (const change of changes) {
    const id = String(change.order.id);
    states.set(id, change.order);
    const what = change.type === 'placed' ? `placed ${change.order.petId}` : `${change.type} ${id}`;
    assert.ok(requested.has(what), `${what} was not requested`);
  }
  if (!mayBeOlder) expectOrders(claims, states);
  await expectList(get, claims, states);
  await expectCursors(get, claims, random, mayBeOlder);
  const answer = await get('/v2/store/orders', {
    method: 'POST',
    headers: { 'idempotency-key': `after-${random.next()}` },
    body: '{"petId":1,"quantity":1}',
  });
  assert.equal(answer.status, 201, answer.body);
  const id = String(parse(answer.body).id);
  assert.ok(!states.has(id), `the id ${id} was given to another order`);
  const given = claims.some((claim) => claim.type === 'order' && claim.id === id);
  assert.ok(!given, `the id ${id} was given before`);
  return changes;
}

async function readFeed(get: Get): Promise<Json[]> {
  const changes: Json[] = [];
  for (let after = 'start'; ; ) {
    const { status, body } = await get(`/v2/store/changes?limit=${PAGE}&after=${after}`);
    assert.equal(status, 200, body);
    const page = parse(body);
    changes.push(...page.changes);
    if (!page.more) return changes;
    after = page.next;
  }
}

/** Every acknowledged order is there, in a state that is not older than the acknowledged one. */
function expectOrders(claims: readonly Claim[], states: ReadonlyMap<string, Json>): void {
  for (const claim of claims) {
    if (claim.type !== 'order') continue;
    const found = states.get(claim.id);
    assert.ok(found !== undefined, `order ${claim.id} is lost`);
    const isKept = claim.status === 'pending' || found.status === claim.status;
    assert.ok(
      isKept,
      `order ${claim.id} was acknowledged as ${claim.status} and is ${found.status}`,
    );
  }
}

/** The list has the orders of the feed; an ETag that was handed out belongs to the same list as then. */
async function expectList(
  get: Get,
  claims: readonly Claim[],
  states: ReadonlyMap<string, Json>,
): Promise<void> {
  const { status, etag, body } = await get('/v1/store/orders');
  assert.equal(status, 200, body);
  const listed = parse(body).map(({ id }: Json) => String(id));
  const live = [...states.values()].filter((order) => order.status !== 'cancelled');
  assert.deepEqual(listed.sort(), live.map(({ id }) => String(id)).sort());
  for (const claim of claims) {
    if (claim.type !== 'list' || claim.etag !== etag) continue;
    assert.equal(digestOf(body), claim.digest, `the ETag ${etag} has named another list before`);
  }
  const claim = latest(claims, 'list');
  if (claim === undefined) return;
  const again = await get('/v1/store/orders', { headers: { 'if-none-match': claim.etag } });
  const isSame = digestOf(body) === claim.digest;
  assert.ok(again.status === 200 || isSame, 'a list that has changed was answered 304');
  const order = claims.findLast((each) => each.type === 'order' && each.etag !== undefined);
  if (order?.type !== 'order') return;
  const found = await get(`/v2/store/orders/${order.id}`);
  if (found.etag !== order.etag) return;
  assert.equal(
    parse(found.body).status,
    order.status,
    `the ETag ${order.etag} has named another state`,
  );
}

/** Cursors go on; only in a store that may have lost its latest changes they may be gone. */
async function expectCursors(
  get: Get,
  claims: readonly Claim[],
  random: Random,
  mayBeOlder: boolean,
): Promise<void> {
  const cursors = claims.filter((each) => each.type === 'cursor');
  if (cursors.length === 0) return;
  for (const { cursor } of [cursors.at(-1)!, random.pick(cursors)]) {
    const { status, body } = await get(`/v2/store/changes?limit=1&after=${cursor}`);
    const isGone = status === 410 && mayBeOlder;
    assert.ok(status === 200 || isGone, `the cursor ${cursor} was answered ${status}: ${body}`);
  }
}

export function latest<T extends Claim['type']>(
  claims: readonly Claim[],
  type: T,
): Extract<Claim, { type: T }> | undefined {
  return claims.findLast((each) => each.type === type) as Extract<Claim, { type: T }> | undefined;
}
