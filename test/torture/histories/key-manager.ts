import { randomUUID } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, type Call, parse, REFUSED_WITHIN_MS, send } from '../http.ts';
import type { Key, Workplace } from './worker.ts';

const LIMIT_MS = 4_000;
const AGAIN_MS = 50;
/** Between two keys: in the minutes of a run, the three acts on each stay below a manager's limit of an hour. */
const PAUSE_MS = 12_000;
/** See docs/keys.md. */
const ACTS_PER_HOUR = 100;

/** The last use of a key is recorded later than it was, and by each process. */
const withoutUse = ({ body }: Answer) => body.replace(/"lastUsedAt":"[^"]*",/, '');

/** A promise about keys that did not hold. */
class Broken extends Error {}
/** Another history is served, or the run ends: nothing is known about the key. */
class Over extends Error {}

/**
 * Creates, rotates and revokes one key after another, each act by two requests with one Idempotency-Key at any nodes, until they are answered. A key must work at
 * every node from then on, and be refused at every node a second after its secret was replaced, or it was revoked.
 */
export async function manageKeys(manager: Key, place: Workplace): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let count = 1; !place.isStopping; count += 1) {
    await place.pause;
    const { observed } = place;
    try {
      await liveOf(`managed-${count}`, { manager, place, agent, acts: 3 * count });
      place.counts.set('managed keys', count);
    } catch (error) {
      if (error instanceof Broken) observed.findings.push(`keys: ${error.message}`);
      else if (!(error instanceof Over)) throw error;
      if (3 * count >= ACTS_PER_HOUR) break;
    }
    for (let waited = 0; waited < PAUSE_MS && !place.isStopping; waited += AGAIN_MS)
      await pause(AGAIN_MS);
  }
  agent.destroy();
}

interface Managing {
  readonly manager: Key;
  readonly place: Workplace;
  readonly agent: Agent;
  /** Acts of the manager, with those on this key. */
  readonly acts: number;
}

/** @throws Broken, Over */
async function liveOf(name: string, { manager, place, agent, acts }: Managing): Promise<void> {
  const { observed } = place;
  const expectSame = () => {
    const isOver = place.isStopping || place.pause !== undefined || place.observed !== observed;
    if (isOver) throw new Over();
  };
  /** Sends a request until it is answered below 500. */
  const answered = async (call: Call, { host, port } = place.random.pick(place.targets)) => {
    for (;;) {
      expectSame();
      const answer = await send({ host, port, agent, limitMs: LIMIT_MS }, call).catch(() => null);
      if (answer !== null && answer.status < 500) return answer;
      await pause(AGAIN_MS);
    }
  };
  const expect = (holds: boolean, what: string, { status, body }: Answer) => {
    expectSame();
    if (!holds) throw new Broken(`${name}: ${what}, but the answer was ${status}: ${body}`);
  };
  const act = async (path: string, body: object) => {
    const call = {
      ...{ method: 'POST', path: `/v2/keys${path}`, secret: manager.secret },
      ...{ body: JSON.stringify(body), headers: { 'idempotency-key': randomUUID() } },
    };
    const areClocksRight = () => performance.now() > place.oneDelivererFrom;
    const wereRight = areClocksRight();
    const first = await answered(call);
    if (first.status === 429 && acts >= ACTS_PER_HOUR) throw new Over();
    expect(first.status < 300, 'the act is carried out', first);
    const again = await answered(call);
    // By a clock that is a day ahead, the hour is over in which a repetition has the secret.
    if (wereRight && areClocksRight())
      expect(
        withoutUse(again) === withoutUse(first),
        `a repetition is answered ${first.body}`,
        again,
      );
    return parse(first.body);
  };
  const expectAtEveryNode = async (secret: string, status: number, what: string) => {
    for (const node of place.targets) {
      const answer = await answered({ method: 'GET', path: '/v2/key', secret }, node);
      expect(answer.status === status, `${what} at ${node.name}`, answer);
    }
  };
  const made = await act('', { name, scopes: ['orders:read'] });
  const { id } = made.key;
  await expectAtEveryNode(made.secret, 200, 'a new key works');
  const rotated = await act(`/${id}/rotate`, { overlapSeconds: 0 });
  await expectAtEveryNode(rotated.secret, 200, 'a new secret works');
  await pause(REFUSED_WITHIN_MS);
  await expectAtEveryNode(made.secret, 401, 'a secret that was replaced is refused');
  const revoke = { method: 'POST', path: `/v2/keys/${id}/revoke`, secret: manager.secret };
  const revoked = await answered(revoke);
  expect(parse(revoked.body).state === 'revoked', 'the key is revoked', revoked);
  await pause(REFUSED_WITHIN_MS);
  await expectAtEveryNode(rotated.secret, 401, 'a revoked key is refused');
  const list = await answered({
    ...{ method: 'GET', path: '/v2/keys?state=revoked&limit=500', secret: manager.secret },
  });
  const { keys } = parse(list.body);
  const found = keys.filter((each: { readonly name: string }) => each.name === name);
  expect(found.length === 1, 'it was created once', list);
}
