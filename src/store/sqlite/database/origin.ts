import {
  closeSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { parsePosition, positionText } from '../../../../protocol/history.ts';
import { leapAbove } from '../../../domain/ids.ts';
import { type OrderId, parseInt64 } from '../../../domain/order.ts';
import type { Acknowledgement } from '../../audit.ts';
import { takeRights } from './connection.ts';
import type { Session } from './session.ts';

/**
 * Records which file the store is in, before anything is written. If the store was in another one, or in a backup, its ids
 * leap: the trigger of migration 010.
 */
export function recordOrigin(session: Session, path: string): void {
  // What distinguishes the file from its copies. Without the device, whose number can change when the machine restarts.
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  const origin = `${ino}:${birthtimeNs}`;
  const [row] = session.query(SQL.origin);
  if (row !== undefined && row[0] !== origin) session.write(SQL.recordOrigin, [origin]);
}

/** Makes the ids leap above `given`, the highest id that was assigned, if the store has lost that order. */
export function reserveGiven(session: Session, given: OrderId): void {
  const [row] = session.query(SQL.freeIds);
  if (row === undefined) return;
  const [highest, last] = row as readonly [bigint, bigint];
  // An operator has lowered the last id since.
  if (given <= highest || given > last) return;
  session.write(SQL.reserveIds, [leapAbove({ highest: given, last })]);
}

const SQL = {
  origin: 'SELECT origin FROM store',
  recordOrigin: 'UPDATE store SET origin = ?, backup_at = NULL',
  freeIds: 'SELECT id, last_id FROM highest_id',
  reserveIds: 'UPDATE store SET reserved_id = ?',
} as const;

/** Characters of an id, which earlier releases read alone, and of all: as many as they can have, so that a rewrite needs no space on the disk. */
const ID_LENGTH = 20;
const LENGTH = ID_LENGTH + 84 + 17 + 17;

/**
 * The highest id that the store at a path has assigned, and its latest position, in a file next to the database. An operator may replace the
 * database with an older copy by hand; only a comparison shows that the latest changes are missing. The file is an additional safeguard: it is not
 * synced, and the store works without it ("doctor" reports that). Earlier releases write the id only.
 */
export class LastGiven {
  /** Undefined if the file cannot be used. */
  #file: number | undefined;
  #given: Given = { highestId: 0n, acknowledged: undefined };
  /** Why the file cannot be used, or its content. */
  readonly problem: string | undefined;

  constructor(path: string) {
    try {
      const database = realpathSync(path);
      this.#file = openBeside(database, `${database}-ids`);
      const { given, isDamaged } = parse(readText(this.#file));
      this.#given = given;
      if (isDamaged) this.problem = DAMAGED;
    } catch (error) {
      this.problem = (error as Error).message;
      this.close();
    }
  }

  get highestId(): OrderId {
    return this.#given.highestId;
  }

  get acknowledged(): Acknowledgement | undefined {
    return this.#given.acknowledged;
  }

  /** Called after a commit; a failure does not affect the outcome. */
  record(given: Given): void {
    if (this.#file === undefined || isSame(given, this.#given)) return;
    this.#given = given;
    try {
      writeSync(this.#file, textOf(given), 0);
    } catch {
      this.close();
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

const DAMAGED = 'it is damaged';

interface Given {
  readonly highestId: OrderId;
  readonly acknowledged: Acknowledgement | undefined;
}

/** Returns the problem with the file beside the database at `path`, or undefined; a missing one is made when the store is opened. */
export function lastGivenProblem(path: string): string | undefined {
  const file = `${path}-ids`;
  if (!existsSync(file)) return undefined;
  try {
    const descriptor = openSync(file, 'r');
    try {
      return parse(readText(descriptor)).isDamaged ? `${file}: ${DAMAGED}` : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Rights are a finding of their own.
    return code === 'EACCES' ? undefined : `${file}: ${message}`;
  }
}

/** Most commits of a command that changes no order change nothing here. */
function isSame(one: Given, other: Given): boolean {
  const [head, otherHead] = [one, other].map(({ acknowledged }) => acknowledged?.position.head);
  return one.highestId === other.highestId && head === otherHead;
}

/** The id, the position, the identity of the store, and the time in milliseconds since the epoch. */
function textOf({ highestId, acknowledged }: Given): string {
  const { position, identity, at } = acknowledged ?? {};
  const rest = position === undefined ? '' : `${positionText(position)} ${identity} ${at}`;
  return String(highestId).padEnd(ID_LENGTH) + rest.padEnd(LENGTH - ID_LENGTH);
}

function readText(file: number): string {
  const text = Buffer.alloc(LENGTH);
  return text.toString('latin1', 0, readSync(file, text, 0, LENGTH, 0));
}

/** Reads what it can of a text that is damaged. */
function parse(text: string): { readonly given: Given; readonly isDamaged: boolean } {
  const id = text.slice(0, ID_LENGTH).trim();
  const [at = '', identity, ms, ...others] = text.slice(ID_LENGTH).trim().split(/ +/);
  const highestId = id === '' ? 0n : parseInt64(id);
  const position = parsePosition(at);
  const isComplete = position !== undefined && identity !== undefined && /^\d+$/.test(ms ?? '');
  return {
    given: {
      highestId: highestId ?? 0n,
      acknowledged: isComplete ? { position, identity, at: Number(ms) } : undefined,
    },
    isDamaged: highestId === undefined || others.length > 0 || (at !== '' && !isComplete),
  };
}

/** Opens a file, which is made with owner and mode of the database: root may run a command on the store of a service. */
function openBeside(database: string, path: string): number {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600));
    takeRights(path, database);
  }
  return openSync(path, 'r+');
}
