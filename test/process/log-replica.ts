import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER = 32;
const FRAME_HEADER = 24;
/** As Litestream waits for the write lock. */
const BUSY_MS = 1_000;

/**
 * A replica of a database, made of the frames of its log, by the statements that Litestream 0.5.16 executes: it holds a read transaction, so that no
 * other process restarts the log, and runs checkpoints itself. It differs from Litestream in that it keeps the pages in memory.
 */
export class LogReplica {
  /** How often all pages were copied, since frames were no longer there. Once is the beginning. */
  copies = 0;
  /** How often a checkpoint let the log begin anew. */
  restarts = 0;
  readonly #writer: DatabaseSync;
  readonly #checkpointer: DatabaseSync;
  readonly #reader: DatabaseSync;
  readonly #database: number;
  readonly #log: number;
  readonly #pageSize: number;
  readonly #pages = new Map<number, Buffer>();
  /** Number of pages of the database. */
  #size = 0;
  /** The header of the log that was read, and how far, with the checksum up to there. */
  #header: Buffer = Buffer.alloc(0);
  #offset = HEADER;
  #sum: readonly [number, number] = [0, 0];

  constructor(path: string) {
    const open = () => {
      const db = new DatabaseSync(path, { timeout: BUSY_MS });
      db.exec('PRAGMA wal_autocheckpoint = 0');
      return db;
    };
    this.#writer = open();
    this.#checkpointer = open();
    this.#reader = open();
    this.#writer.exec(`CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
      CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER)`);
    this.#hold();
    this.#pageSize = this.#writer.prepare('PRAGMA page_size').get()!.page_size as number;
    this.#bump();
    // Kept open: SQLite's locks of a process on a file end when the process closes any descriptor of it.
    this.#database = openSync(path, 'r');
    this.#log = openSync(`${path}-wal`, 'r');
    this.#copyAll();
  }

  /** Reads the commits that the log has by now. */
  sync(): void {
    if (!this.#readHeader().equals(this.#header)) this.#copyAll();
    else this.#readFrames();
  }

  /** Writes the log into the database without losing a frame: it is read to its end while no other process can write. */
  checkpoint(): void {
    this.sync();
    this.#writer.exec('BEGIN; INSERT INTO _litestream_lock (id) VALUES (1)');
    this.sync();
    this.#reader.exec('ROLLBACK');
    this.#checkpointer.exec('PRAGMA wal_checkpoint(PASSIVE)');
    this.#hold();
    this.#writer.exec('ROLLBACK');
    this.#bump();
    const header = this.#readHeader();
    if (!header.equals(this.#header)) {
      this.restarts += 1;
      this.#begin(header);
    }
    this.sync();
  }

  /** Writes the pages to a new file. */
  restore(path: string): void {
    const pages = Array.from({ length: this.#size }, (_, index) => this.#pages.get(index + 1)!);
    writeFileSync(path, Buffer.concat(pages), { flag: 'wx', mode: 0o600 });
  }

  close(): void {
    for (const db of [this.#reader, this.#checkpointer, this.#writer]) db.close();
    for (const file of [this.#database, this.#log]) closeSync(file);
  }

  #hold(): void {
    this.#reader.exec('BEGIN; SELECT count(1) FROM _litestream_seq');
  }

  #bump(): void {
    this.#writer.exec(
      'INSERT INTO _litestream_seq (id, seq) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET seq = seq + 1',
    );
  }

  /** Reads the database and then the log, while no other process can write. */
  #copyAll(): void {
    this.copies += 1;
    this.#writer.exec('BEGIN; INSERT INTO _litestream_lock (id) VALUES (1)');
    this.#pages.clear();
    this.#size = fstatSync(this.#database).size / this.#pageSize;
    for (let page = 1; page <= this.#size; page += 1) {
      this.#pages.set(page, read(this.#database, (page - 1) * this.#pageSize, this.#pageSize));
    }
    this.#begin(this.#readHeader());
    this.#readFrames();
    this.#writer.exec('ROLLBACK');
  }

  #begin(header: Buffer): void {
    this.#header = header;
    this.#offset = HEADER;
    this.#sum = checksum(header.subarray(0, 24), [0, 0], this.#isBigEndian());
  }

  #readHeader(): Buffer {
    return read(this.#log, 0, HEADER);
  }

  #isBigEndian(): boolean {
    return (this.#header.readUInt32BE(0) & 1) === 1;
  }

  /** Reads frames up to the last commit that is complete. */
  #readFrames(): void {
    const salts = this.#header.subarray(16, 24);
    let sum = this.#sum;
    let pending: (readonly [page: number, content: Buffer])[] = [];
    for (let offset = this.#offset; ; ) {
      const frame = read(this.#log, offset, FRAME_HEADER + this.#pageSize);
      if (frame.length < FRAME_HEADER + this.#pageSize) return;
      if (!frame.subarray(8, 16).equals(salts)) return;
      const content = frame.subarray(FRAME_HEADER);
      sum = checksum(frame.subarray(0, 8), sum, this.#isBigEndian());
      sum = checksum(content, sum, this.#isBigEndian());
      if (frame.readUInt32BE(16) !== sum[0] || frame.readUInt32BE(20) !== sum[1]) return;
      pending.push([frame.readUInt32BE(0), content]);
      offset += frame.length;
      const size = frame.readUInt32BE(4);
      if (size === 0) continue;
      for (const [page, written] of pending) this.#pages.set(page, written);
      pending = [];
      this.#size = size;
      this.#offset = offset;
      this.#sum = sum;
    }
  }
}

function read(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, position));
}

/** https://sqlite.org/fileformat2.html#checksum_algorithm */
function checksum(
  bytes: Buffer,
  [first, second]: readonly [number, number],
  isBigEndian: boolean,
): readonly [number, number] {
  assert.equal(bytes.length % 8, 0);
  const word = (at: number) => (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at));
  let [s0, s1] = [first, second];
  for (let at = 0; at < bytes.length; at += 8) {
    s0 = (s0 + word(at) + s1) >>> 0;
    s1 = (s1 + word(at + 4) + s0) >>> 0;
  }
  return [s0, s1];
}
