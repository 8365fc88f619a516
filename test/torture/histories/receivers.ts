import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { verifyWebhook } from '../../../client/src/webhook.ts';
import { type Json, parse } from '../http.ts';
import { type Follower, Notes, revisionOf } from './followers.ts';
import type { Observed } from './operation.ts';
import { changeOf, textOf } from './timeline.ts';
import type { Workplace } from './worker.ts';

/** It is set back by so many deliveries. */
const KEPT_CURSORS = 20;
/** Time that deliveries take during a burst, and otherwise some of them, at most. */
const SLOW_MS = 600;
const SLOW = 0.1;
/** Share of deliveries that an endpoint does not accept; they are repeated after 5 s. */
const REFUSED = 0.01;
/** That of an endpoint that receives few changes: when a delivery is repeated, more of them would have room in it. */
const REFUSED_OF_FEW = 0.06;
/** In a row: after a third one, the delivery would be repeated only after two minutes. */
const MAX_REFUSED = 2;
const REFUSALS = [302, 404, 429, 500, 503];

/** The endpoint of a webhook. */
export interface Receiver extends Follower {
  readonly url: string;
  /** Deliveries must be signed with this secret from now on; called before anything is delivered, too. */
  readonly isSignedWith: (secret: string) => void;
  /** Expects that it begins again at an earlier cursor. */
  readonly setBack: () => { readonly cursor: string; readonly hasBegun: () => boolean };
  /** How many deliveries it has got. */
  readonly deliveries: () => number;
}

/**
 * An endpoint of a webhook, which now and then resets the connection or refuses a delivery, and now and then is slow. Deliveries must be signed, and may be repeated, as they
 * were, but not left out.
 * @param only the type of the changes that it receives, if not all
 */
export async function receiveWebhook(
  host: string,
  place: Workplace,
  only?: string,
): Promise<Receiver> {
  const notes = new Notes(only === undefined ? 'a webhook' : `a webhook of ${only} orders`, place);
  let cursor: string | undefined;
  let deliveries = 0;
  /** The delivery that was not answered yet. */
  let current: IncomingMessage | undefined;
  /** Where it is to begin again, and the latest cursors that it had, in the history that is served. */
  let setBackTo: string | undefined;
  let had: string[] = [];
  /** Its secrets, the newest last, and the history in which it got that. */
  const secrets: string[] = [];
  let rotatedIn: Observed | undefined;
  const refused = only === 'shipped' ? REFUSED_OF_FEW : REFUSED;
  let refusedInARow = 0;
  /** What was delivered, by webhook-id; the revision of the store in a repetition is a later one. */
  const contents = new Map<string, string>();
  /** The webhook-id of what follows a cursor, in the history that is served. */
  const ids = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const isOneAtATime = performance.now() > place.oneDelivererFrom;
    if (isOneAtATime && current !== undefined && !current.socket.destroyed) {
      place.observed.findings.push(`${notes.what} got two deliveries at the same time`);
    }
    current = request;
    response.once('close', () => {
      if (current === request) current = undefined;
    });
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    deliveries += 1;
    const { after, changes, next } = parse(body);
    const id = String(request.headers['webhook-id']);
    if (after === setBackTo) {
      setBackTo = undefined;
      if (contents.has(id)) {
        place.observed.findings.push(
          `${notes.what}: what follows ${after} was sent as a repetition`,
        );
      }
      ids.clear();
      notes.begin(revisionOf(after), only);
      cursor = after;
    }
    const content = [after, next, ...changes.map(changeOf).map(textOf)].join(' ');
    if ((contents.get(id) ?? content) !== content) {
      place.observed.findings.push(`${notes.what}: ${id} was repeated with other changes`);
    }
    contents.set(id, content);
    // While the history is replaced, a delivery may be of either.
    if (notes.isOfAnotherHistory) had = [];
    if (notes.isOfAnotherHistory || place.pause !== undefined) ids.clear();
    else if ((ids.get(after) ?? id) !== id) {
      place.observed.findings.push(`${notes.what}: what follows ${after} was sent under two ids`);
    } else ids.set(after, id);
    // By the clock of the node, which may be wrong.
    const sentAt = Number(request.headers['webhook-timestamp']) * 1_000;
    // A history that was restored or lost may not have the latest secret.
    const valid = rotatedIn === place.observed ? secrets.slice(-1) : secrets;
    await Promise.any(
      valid.map((secret) => verifyWebhook(body, request.headers, secret, sentAt)),
    ).catch(({ errors }: AggregateError) => {
      place.observed.findings.push(`${notes.what}: ${errors[0].message}`);
    });
    if (place.isBurst || place.random.chance(SLOW)) await pause(place.random.below(SLOW_MS));
    const fate = place.random.next();
    if (fate < refused && refusedInARow < MAX_REFUSED) {
      refusedInARow += 1;
      if (fate < refused / 2) request.socket.resetAndDestroy();
      else response.writeHead(place.random.pick(REFUSALS)).end();
      return;
    }
    refusedInARow = 0;
    if (cursor === undefined || notes.isOfAnotherHistory) {
      notes.begin(revisionOf(after), only);
      cursor = String(after);
    }
    had = [...had.slice(1 - KEPT_CURSORS), cursor];
    const known = revisionOf(cursor);
    if (after === cursor) {
      for (const change of changes) notes.add(change);
      cursor = next;
    } else if (revisionOf(after) > known) {
      place.observed.findings.push(
        `a webhook received what follows ${after} while it had only ${cursor}`,
      );
    } else if (revisionOf(next) > known) {
      // A longer page that begins before what was received: the rest of it is new.
      const rest = changes.filter((each: Json) => Number(each.revision) > known);
      for (const change of rest) notes.add(change);
      cursor = next;
    }
    response.writeHead(204).end();
  });
  return {
    url: await urlOf(server, host),
    isSignedWith: (given) => {
      secrets.push(given);
      rotatedIn = place.observed;
    },
    setBack: () => {
      const to = had[0]!;
      setBackTo = to;
      return { cursor: to, hasBegun: () => setBackTo === undefined };
    },
    deliveries: () => deliveries,
    name: notes.what,
    only,
    revision: () => notes.revision,
  };
}

/** An endpoint that refuses each delivery, and asks for a pause of a day. */
export async function refuseWebhook(host: string) {
  let deliveries = 0;
  const server = createServer((request, response) => {
    deliveries += 1;
    request.resume();
    response.writeHead(503, { 'retry-after': '86400' }).end();
  });
  return { url: await urlOf(server, host), deliveries: () => deliveries };
}

/** Has a server listen until the process ends. @returns its URL */
async function urlOf(server: Server, host: string): Promise<string> {
  server.listen(0, host);
  await once(server, 'listening');
  server.unref();
  return `http://${host}:${(server.address() as AddressInfo).port}/`;
}
