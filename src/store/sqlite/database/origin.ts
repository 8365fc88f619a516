import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { leapAbove } from '../../../domain/ids.ts';
import { type OrderId, parseInt64 } from '../../../domain/order.ts';
import type { Session } from './session.ts';

/**
 * Records which file the store is in, before anything is written. If the store was in another one, or in a backup, its ids
 * leap: the trigger of migration 010.
 */
export function recordOrigin(session: Session, origin: string): void {
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

/** Characters of the file: as many as int64 needs, so that a rewrite needs no space on the disk. */
const LENGTH = 20;

/**
 * The highest id that the store at a path has assigned, in a file next to the database. An operator may replace the database with an older copy
 * by hand; only a comparison of the ids shows that the latest orders are missing. The file is an additional safeguard: it is not synced, and the
 * store works without it ("doctor" reports that).
 */
export class GivenIds {
  /** Undefined if the file cannot be used. */
  #file: number | undefined;
  #highest: OrderId = 0n;

  constructor(path: string) {
    try {
      const database = realpathSync(path);
      this.#file = openBeside(database, `${database}-ids`);
      const text = Buffer.alloc(LENGTH);
      const length = readSync(this.#file, text, 0, LENGTH, 0);
      this.#highest = parseInt64(text.toString('latin1', 0, length).trim()) ?? 0n;
    } catch {
      this.close();
    }
  }

  get highest(): OrderId {
    return this.#highest;
  }

  /** Called after a commit; a failure does not affect the outcome. */
  record(id: OrderId): void {
    if (id === this.#highest || this.#file === undefined) return;
    this.#highest = id;
    try {
      writeSync(this.#file, String(id).padEnd(LENGTH), 0);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}

/** Opens a file, which is made with owner and mode of the database: root may run a command on the store of a service. */
function openBeside(database: string, path: string): number {
  if (!existsSync(path)) {
    closeSync(openSync(path, 'a', 0o600));
    const { uid, gid, mode } = statSync(database);
    if (process.getuid?.() === 0) chownSync(path, uid, gid);
    chmodSync(path, mode);
  }
  return openSync(path, 'r+');
}
