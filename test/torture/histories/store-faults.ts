import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../../process/program.ts';
import { succeed } from '../command.ts';
import { openStream, parse, REFUSED_WITHIN_MS, send } from '../http.ts';
import type { Deployment, Fault } from './deployment.ts';
import { changesOf } from './feed.ts';
import { importOrders } from './imports.ts';
import { DAY_S } from './node-faults.ts';
import type { Receiver } from './receivers.ts';
import { listedOf } from './record.ts';
import { textOf } from './timeline.ts';
import type { Key, Target, Workplace } from './worker.ts';

const AGAIN_MS = 20;
/** Any request, whatever the service is doing. */
const ANSWERED_MS = 30_000;
/** Orders that an import has, more than a transaction of it, and how long a node is stopped meanwhile at most. */
const IMPORTED = 2_500;
const STOPPED_MS = 3_000;
/** How often it is interrupted at most, and after which time. */
const INTERRUPTIONS = 4;
const INTERRUPTED_MS = 700;
/** A store to which no client writes must be copied within this time; it may still record deliveries, and when keys were used. */
const COPIED_WITHIN_MS = 30_000;
const COPY_AGAIN_MS = 300;
/** Keys that are revoked meanwhile, at different times. */
const KEYS_REVOKED = 3;
/** Longer than it takes to create a key. */
const EXPIRES_AFTER_MS = 2_000;
/** About as long as a copy takes. */
const COPIED_IN_MS = 500;
/** Exports of the copy, each as it was at some revision. */
const EXPORTS = 3;
/** After this time, what was changed of a webhook holds for its deliveries. */
const NOTICED_MS = 2_000;
/** A delivery that was refused is repeated after 5 s and 30 s. */
const BEGINS_WITHIN_MS = 40_000;
/** Changes of a description by each node. */
const DESCRIPTIONS = 20;
/** Time in which a paused webhook must get nothing. */
const PAUSED_MS = 1_000;
/**
 * Orders that are placed and cancelled while a stream is not read: their events, of 1,300 bytes each, are more than the service keeps for a stream
 * (256 KiB) and the systems at both ends buffer (about 400 KB).
 */
const BURST_ORDERS = 500;
const BURST_WITHIN_MS = 60_000;

/** What operators and clients do to a store, on any database. */
export interface Operated {
  readonly deployment: Deployment;
  readonly place: Workplace;
  /** Webhooks whose deliveries do not end while workers work. */
  readonly webhooks: readonly Receiver[];
  /** Runs a command on the store. @returns what it printed */
  readonly command: (args: readonly string[]) => Promise<string>;
  readonly newKey: (name: string, flags?: readonly string[]) => Promise<Key>;
  /** Runs `use` while no worker does anything. */
  readonly whilePaused: (use: () => Promise<void>) => Promise<void>;
  readonly find: (finding: string) => void;
}

export function storeFaults(store: Operated): Fault[] {
  return [
    {
      name: 'a key that expires, and one that is revoked',
      happen: async ({ beforeWrongClock }) => {
        beforeWrongClock();
        await expireKey(store);
        await revokeKey(store);
      },
    },
    { name: 'a stream that falls behind', happen: () => burst(store) },
    { name: 'an import while a node is stopped', happen: () => importWhileStopped(store) },
    { name: 'a move that is undone', happen: () => moveAndReactivate(store) },
    { name: 'a webhook that is paused', happen: () => pauseWebhook(store) },
    { name: 'a new secret of a webhook', happen: () => rotateSecret(store) },
    { name: 'a webhook that is set back', happen: () => rewindWebhook(store) },
  ];
}

const agent = new Agent();

/** Every node answers a request with a status. @param what the request has, for the finding */
export async function expectStatus(
  { deployment, find }: Pick<Operated, 'deployment' | 'find'>,
  expected: number,
  what: string,
  { path, secret }: { readonly path: string; readonly secret: string },
): Promise<void> {
  for (const { name, host, port } of deployment.nodes) {
    const sending = { host, port, agent, limitMs: ANSWERED_MS };
    const { status } = await send(sending, { method: 'GET', path, secret });
    if (status !== expected) find(`${name} answered ${what} with ${status}, not ${expected}`);
  }
}

const LIST = '/v1/store/orders';
/** One path of each kind of read. */
export const SERVED = [
  ...[LIST, '/v1/pets/1', '/v2/store/orders', '/v2/store/orders/1', '/v2/store/orders/1/history'],
  ...['/v2/store', '/v2/store/counts', '/v2/store/counts?petId=1', '/v2/store/changes'],
  ...[
    '/v2/store/activity?boundaries=2026-01-01T00:00:00Z,2026-01-02T00:00:00Z',
    '/v2/webhooks',
    '/v2/key',
  ],
];

/**
 * A second after a key has expired it is good at no node, also not after the clock of one was set back. Nothing is changed meanwhile, since
 * nodes learn from the time of a change that their clock is behind.
 */
async function expireKey(store: Operated): Promise<void> {
  await store.whilePaused(async () => {
    const expires = new Date(Date.now() + EXPIRES_AFTER_MS).toISOString();
    const { secret } = await store.newKey(`short ${performance.now()}`, ['--expires', expires]);
    await pause(EXPIRES_AFTER_MS + REFUSED_WITHIN_MS);
    await expectStatus(store, 401, 'an expired key', { path: LIST, secret });
    const wrong = store.place.random.pick(store.deployment.nodes);
    wrong.faults.shiftClock(-DAY_S);
    const what = 'an expired key, after a clock was set back,';
    await expectStatus(store, 401, what, { path: LIST, secret });
    wrong.faults.end();
  });
}

/** A key is good at every node, and a second after it was revoked at none, whatever their clocks; its streams have ended then. */
async function revokeKey(store: Operated): Promise<void> {
  const { id, secret } = await store.newKey(`short ${performance.now()}`);
  await expectStatus(store, 200, 'a new key', { path: LIST, secret });
  const nodes = store.deployment.nodes;
  // Its clock is set back after the key was used.
  const wrong = store.place.random.chance(0.5) ? store.place.random.pick(nodes) : undefined;
  wrong?.faults.shiftClock(-DAY_S);
  const streams = await Promise.all(
    nodes.map(async (node) => ({ ...(await openStream(node, secret)), name: node.name })),
  );
  await store.command(['keys', 'revoke', id]);
  await pause(REFUSED_WITHIN_MS);
  for (const { name, hasEnded, close } of streams) {
    if (!hasEnded()) store.find(`${name} continued the stream of a revoked key`);
    close();
  }
  await expectStatus(store, 401, 'a revoked key', { path: LIST, secret });
  wrong?.faults.end();
}

/** The feed grows so fast that a stream which is not read meanwhile falls behind. */
async function burst({ place }: Operated): Promise<void> {
  const { nextPet } = place;
  const until = performance.now() + BURST_WITHIN_MS;
  place.isBurst = true;
  while (place.nextPet < nextPet + BigInt(BURST_ORDERS) && performance.now() < until)
    await pause(AGAIN_MS);
  place.isBurst = false;
  const placed = Number(place.nextPet - nextPet);
  if (placed < BURST_ORDERS)
    throw new Error(`only ${placed} orders were placed in ${BURST_WITHIN_MS} ms`);
}

/**
 * The list of a node changes by more than one transaction has since the node has read it. The sessions of the import may end meanwhile;
 * then it is repeated.
 */
async function importWhileStopped({ deployment, place }: Operated): Promise<void> {
  const { random } = place;
  const { endSessions, nodes, env } = deployment;
  const node = random.pick(nodes);
  node.signal('SIGSTOP');
  const importing = importOrders(place, IMPORTED, env);
  try {
    const end = random.chance(0.7) ? endSessions : undefined;
    for (let times = 0; times < INTERRUPTIONS && end !== undefined; times += 1) {
      await Promise.race([importing, pause(random.below(INTERRUPTED_MS))]);
      await end();
    }
    // A process that is stopped may hold the lock of the database.
    await Promise.race([importing, pause(STOPPED_MS)]);
  } finally {
    node.signal('SIGCONT');
  }
  await importing;
}

/**
 * The store is moved to another database, which then has the whole feed, and reactivated. Meanwhile its nodes run, and serve nothing
 * of it: the other database may have changed. A key that is revoked while it is moved is revoked in the other database too.
 */
async function moveAndReactivate(store: Operated): Promise<void> {
  const { deployment, place, command, whilePaused } = store;
  const target = `sqlite:${deployment.folder}/moved-${Math.round(performance.now())}.db`;
  const { secret } = await store.newKey(`moved ${performance.now()}`);
  const ids: string[] = [];
  for (let each = 0; each < KEYS_REVOKED; each += 1)
    ids.push((await store.newKey(`revoked ${performance.now()}`)).id);
  await whilePaused(async () => {
    const begin = performance.now();
    const [areRevoked] = await Promise.all([
      Promise.all(ids.map((id) => revokeLater(store, id))),
      copyUnchanged(deployment.database, target),
    ]);
    const keys = JSON.parse(await succeed(['keys', 'list', '--json', '--database', target]));
    for (const [index, isRevoked] of areRevoked.entries()) {
      const { status } = keys.find((key: { id: string }) => key.id === ids[index]);
      if ((status === 'revoked') !== isRevoked)
        store.find(`a key that was ${isRevoked ? '' : 'not '}revoked is ${status} in the copy`);
    }
    for (const path of SERVED)
      await expectStatus(store, 503, `${path} of a moved store`, { path, secret });
    const { changes } = await changesOf(target);
    const { revision, head } = changes.at(-1)!;
    place.observed.add({
      ...{ what: 'a copy of the store', begin, end: performance.now() },
      effect: {
        ...{ type: 'feed', after: 0, upTo: revision, now: revision, head: head!, only: undefined },
        changes: changes.map(textOf).join(' '),
      },
    });
    const ends = changes.filter(({ type }) => type !== 'placed');
    for (let times = 0; times < EXPORTS && ends.length > 0; times += 1)
      await exportAt(place.random.pick(ends).revision, target, place);
    await command(['reactivate']);
  });
}

/** Revokes a key while the store is copied. @returns whether that was possible: a store that was moved does not change any more */
async function revokeLater({ deployment, place }: Operated, id: string): Promise<boolean> {
  await pause(place.random.below(COPIED_IN_MS));
  const { database, env } = deployment;
  const { code } = await run(['keys', 'revoke', id, '--database', database], { env });
  return code === 0;
}

/** Has the orders written as they were at a revision. */
async function exportAt(revision: number, database: string, place: Workplace): Promise<void> {
  const begin = performance.now();
  const args = ['export', '--at', String(revision), '--database', database];
  const lines = (await succeed(args)).split('\n').map(parse);
  const orders = lines.map((order) => `${order.status}:${listedOf(order)}`).join(' ');
  place.observed.add({
    ...{ what: `an export at revision ${revision}`, begin, end: performance.now() },
    effect: { type: 'export', revision, orders },
  });
}

/** Copies the store as soon as it does not change meanwhile. */
async function copyUnchanged(database: string, target: string): Promise<void> {
  const until = performance.now() + COPIED_WITHIN_MS;
  while (performance.now() < until) {
    const { code, stderr } = await run(['copy', '--from', database, '--to', target]);
    if (code === 0) return;
    if (!stderr.includes('the store changed')) throw new Error(`the copy failed: ${stderr}`);
    await pause(COPY_AGAIN_MS);
  }
  throw new Error(`the store could not be copied within ${COPIED_WITHIN_MS} ms`);
}

/** A webhook that has much to deliver gets nothing while it is paused. */
async function pauseWebhook({ webhooks, command, find }: Operated): Promise<void> {
  const [webhook] = webhooks as [Receiver];
  const id = await idOf(webhook, command);
  await command(['webhooks', 'pause', id]);
  await pause(NOTICED_MS);
  const before = webhook.deliveries();
  await pause(PAUSED_MS);
  if (webhook.deliveries() > before) find(`${webhook.name} got deliveries while it was paused`);
  await command(['webhooks', 'resume', id]);
}

/** Deliveries are signed with a new secret, also while they do not end; changes of the description before do not disturb them. */
async function rotateSecret(store: Operated): Promise<void> {
  const { webhooks, command, place } = store;
  const [webhook] = webhooks as [Receiver];
  const id = await idOf(webhook, command);
  await describeWebhook(store, id);
  place.isBurst = true;
  try {
    const secret = await command(['webhooks', 'rotate', id]);
    await pause(NOTICED_MS);
    webhook.isSignedWith(secret);
    await pause(NOTICED_MS);
  } finally {
    place.isBurst = false;
  }
}

/** Every node changes the description of a webhook, again and again. */
async function describeWebhook({ deployment, newKey, find }: Operated, id: string): Promise<void> {
  // The webhook was created by an operator.
  const scopes = ['--scope', 'webhooks:manage', '--scope', 'webhooks:manage-all'];
  const { secret } = await newKey(`describing ${performance.now()}`, scopes);
  const describe = async ({ name, host, port }: Target) => {
    for (let time = 1; time <= DESCRIPTIONS; time += 1) {
      const body = JSON.stringify({ description: `${name} ${time}` });
      const call = { method: 'PATCH', path: `/v2/webhooks/${id}`, secret, body };
      const { status } = await send({ host, port, agent, limitMs: ANSWERED_MS }, call);
      // A busy machine does not answer in time.
      if (status !== 200 && status !== 503) find(`${name} answered ${call.path} with ${status}`);
    }
  };
  await Promise.all(deployment.nodes.map(describe));
}

/** A webhook gets again what it had, as something new. */
async function rewindWebhook({ webhooks, command, find }: Operated): Promise<void> {
  const [webhook] = webhooks as [Receiver];
  const id = await idOf(webhook, command);
  const { cursor, hasBegun } = webhook.setBack();
  await command(['webhooks', 'rewind', id, '--to', cursor]);
  const until = performance.now() + BEGINS_WITHIN_MS;
  while (!hasBegun() && performance.now() < until) await pause(AGAIN_MS);
  if (!hasBegun()) find(`${webhook.name} did not begin again after ${cursor}`);
}

async function idOf({ url }: Receiver, command: Operated['command']): Promise<string> {
  const listed = JSON.parse(await command(['webhooks', 'list', '--json']));
  return listed.find((each: { url: string }) => each.url === url).id;
}
