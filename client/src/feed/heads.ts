import type { Call } from '../call.ts';
import { HistoryMismatchError, StoreOrdersError } from '../errors.ts';
import { stringify } from '../exact-json.ts';
import type { Change } from '../records.ts';

// The history of a store is a chain of hashes, and a cursor is REVISION-HEAD: it commits the service to all changes before
// it. The form is in "What you can prove" of the service's docs/integrating.md; conformance/heads.json has vectors.

/** Changes that were read after a cursor, and the cursor after them. */
interface Step {
  /** A cursor, `start` or `now`. */
  readonly after: string;
  /** Of whole revisions, in order. */
  readonly changes: readonly Change[];
  readonly cursor: string;
}

/** Verifies changes that were read. @throws HistoryMismatchError */
export type Verify = (request: Pick<Call, 'requestId'>, step: Step) => Promise<void>;

/** Returns 32 bytes; WebCrypto only has an asynchronous function. */
type Sha256 = (data: Uint8Array<ArrayBuffer>) => Uint8Array | Promise<ArrayBuffer>;

const START = `0-${'0'.repeat(64)}`;
const CURSOR = /^(\d+)-([0-9a-f]{64})$/;
const UTF8 = new TextEncoder();

/**
 * Returns what verifies changes; undefined if they are not to be verified.
 * @param wanted by default, changes are verified where the runtime has SHA-256
 * @throws StoreOrdersError if they are to be verified and the runtime has no SHA-256
 */
export function verifying(wanted: boolean | undefined): Verify | undefined {
  if (wanted === false) return undefined;
  const sha256 = sha256Here();
  if (sha256 !== undefined) return (request, step) => expectProven(sha256, request, step);
  if (wanted === undefined) return undefined;
  throw new StoreOrdersError(
    'this runtime cannot verify changes, since it has no SHA-256; browsers have it only over HTTPS',
  );
}

/** Node.js, Bun and Deno have a synchronous hash, which takes a tenth of the time of WebCrypto's. */
function sha256Here(): Sha256 | undefined {
  const { process, crypto } = globalThis as { process?: NodeProcess; crypto?: Partial<Crypto> };
  const node = process?.getBuiltinModule?.('node:crypto');
  if (node !== undefined) return (data) => node.createHash('sha256').update(data).digest();
  const subtle = crypto?.subtle;
  return subtle && ((data) => subtle.digest('SHA-256', data));
}

/** What is used of Node.js, whose types the library does not need. */
interface NodeProcess {
  readonly getBuiltinModule?: (name: string) => NodeCrypto | undefined;
}

interface NodeCrypto {
  createHash(name: string): NodeHash;
}

interface NodeHash {
  update(data: Uint8Array): NodeHash;
  digest(): Uint8Array;
}

async function expectProven(
  sha256: Sha256,
  { requestId }: Pick<Call, 'requestId'>,
  step: Step,
): Promise<void> {
  const { after, changes, cursor } = step;
  // After "now", the position is the one that the service names, and there are no changes before it.
  const from = parsed(after === 'now' ? cursor : after === 'start' ? START : after);
  const to = parsed(cursor);
  if (from !== undefined && to !== undefined) {
    const end = await endOf(sha256, from, changes);
    if (end?.revision === to.revision && isEqual(end.head, to.head)) return;
  }
  throw new HistoryMismatchError(
    `the changes after ${after} are not those to which the cursor ${cursor} commits`,
    { after, cursor, requestId },
  );
}

interface Position {
  readonly revision: bigint;
  readonly head: Uint8Array;
}

function parsed(cursor: string): Position | undefined {
  const [, revision, head] = CURSOR.exec(cursor) ?? [];
  if (revision === undefined || head === undefined) return undefined;
  const bytes = head.match(/../g)!.map((digits) => Number.parseInt(digits, 16));
  return { revision: BigInt(revision), head: Uint8Array.from(bytes) };
}

/** Returns the position after changes; undefined if they are not in order, or a record contradicts itself. */
async function endOf(
  sha256: Sha256,
  from: Position,
  changes: readonly Change[],
): Promise<Position | undefined> {
  let { revision, head } = from;
  for (let begin = 0; begin < changes.length; ) {
    const next = changes[begin]!.revision;
    if (next <= revision) return undefined;
    let lines = '';
    for (; changes[begin]?.revision === next; begin += 1) {
      const change = changes[begin]!;
      if (change.order.revision !== next || change.order.updatedAt !== change.at) return undefined;
      lines += lineOf(change);
    }
    const digest = new Uint8Array(await sha256(UTF8.encode(lines)));
    const chained = new Uint8Array(64);
    chained.set(head);
    chained.set(digest, 32);
    head = new Uint8Array(await sha256(chained));
    revision = next;
  }
  return { revision, head };
}

function lineOf({ type, at, by, order }: Change): string {
  const { id, petId, quantity, shipDate, complete, status, reference } = order;
  const fields = [type, at, by, id, petId, quantity, shipDate, complete, status, reference];
  return `${stringify(fields)}\n`;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, index) => byte === other[index]);
}
