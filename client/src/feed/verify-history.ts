import type { Change } from '../../../protocol/generated/records.ts';
import {
  BEGINNING,
  eventLine,
  isProvable,
  type Position,
  parsePosition,
  positionText,
} from '../../../protocol/history.ts';
import type { Call } from '../call.ts';
import { HistoryMismatchError, StoreOrdersError } from '../errors.ts';

// The history of a store is a chain of hashes, and a cursor is REVISION-HEAD: it commits the service to all changes before
// it. The form is in "What you can prove" of the service's docs/integrating.md; conformance/heads.json has vectors.

/** Changes, with the cursors before and after them. */
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

const UTF8 = new TextEncoder();

/**
 * Returns a function that verifies changes; undefined if they are not to be verified.
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

/** The part of Node.js's `process` that is used; the library does not depend on its types. */
interface NodeProcess {
  readonly getBuiltinModule?: (name: string) => { createHash(name: string): NodeHash } | undefined;
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
  // After "now" the service names the position, and there are no changes.
  const from = after === 'start' ? BEGINNING : parsePosition(after === 'now' ? cursor : after);
  const end = from && (await endOf(sha256, from, changes));
  if (end !== undefined && positionText(end) === cursor) return;
  throw new HistoryMismatchError(
    `the changes after ${after} are not those to which the cursor ${cursor} commits`,
    { after, cursor, requestId },
  );
}

/** Returns the position after changes; undefined if they are not in order, or a record contradicts itself. */
async function endOf(
  sha256: Sha256,
  from: Position,
  changes: readonly Change[],
): Promise<Position | undefined> {
  let { revision } = from;
  let head = Uint8Array.from(from.head.match(/../g)!, (digits) => Number.parseInt(digits, 16));
  for (let begin = 0; begin < changes.length; ) {
    const next = changes[begin]!.revision;
    if (next <= revision) return undefined;
    let lines = '';
    for (; changes[begin]?.revision === next; begin += 1) {
      const change = changes[begin]!;
      if (!isProvable(change)) return undefined;
      lines += eventLine({ ...change, shipDate: change.order.shipDate });
    }
    const digest = new Uint8Array(await sha256(UTF8.encode(lines)));
    const chained = new Uint8Array(64);
    chained.set(head);
    chained.set(digest, 32);
    head = new Uint8Array(await sha256(chained));
    revision = next;
  }
  const digits = Array.from(head, (byte) => byte.toString(16).padStart(2, '0'));
  return { revision, head: digits.join('') };
}
