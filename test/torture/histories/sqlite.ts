import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../postgres.ts';
import { succeed } from '../command.ts';
import type { Deployment, Fault } from './deployment.ts';
import { changesOf } from './feed.ts';
import { Node } from './node.ts';
import { fileFaults, processFaults } from './node-faults.ts';

const LOCKED_MS = 3_000;

/** Processes on one SQLite database. */
export async function onSqlite(
  count: number,
  { folder, shim, env }: { folder: string; shim: string; env: Readonly<Record<string, string>> },
): Promise<Deployment> {
  const file = join(folder, 'store.db');
  const database = `sqlite:${file}`;
  const host = '127.0.0.1';
  const nodes: Node[] = [];
  for (let index = 1; index <= count; index += 1) {
    const options = {
      name: `node ${index}`.replace(' ', '-'),
      host,
      port: await freePort(),
      database,
    };
    nodes.push(new Node({ ...options, folder, shim, root: folder, env, wrapper: [] }));
  }
  // One of them creates the store.
  for (const node of nodes) node.start();
  return {
    name: count === 1 ? 'SQLite, one process' : `SQLite, ${count} processes`,
    ...{ nodes, database, host, env, folder, skipped: [] },
    faults: [
      ...processFaults(nodes),
      ...fileFaults(nodes),
      foreignLock(file),
      restore(file, nodes),
    ],
    end: async () => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
    },
  };
}

/** Another program holds the write lock. */
function foreignLock(file: string): Fault {
  return {
    name: 'a foreign lock',
    isAnswered: true,
    happen: async () => {
      const db = new DatabaseSync(file, { timeout: 2_000 });
      try {
        db.exec('BEGIN IMMEDIATE');
        await pause(LOCKED_MS);
        db.exec('ROLLBACK');
      } finally {
        db.close();
      }
    },
  };
}

/** The operator makes a backup, goes on, and restores it: by the command, or after a crash by hand. */
function restore(file: string, nodes: readonly Node[]): Fault {
  return {
    name: 'a restore',
    happen: async ({ random, replaceHistory }) => {
      const isByHand = random.chance(0.5);
      const backup = `${file}.backup`;
      const database = ['--database', `sqlite:${file}`];
      rmSync(backup, { force: true });
      await succeed(['backup', backup, ...database]);
      await pause(LOCKED_MS / 2);
      await replaceHistory(async () => {
        await Promise.all(nodes.map((node) => node.stop(isByHand ? 'SIGKILL' : 'SIGTERM')));
        // Of a copy: a command that opens the store itself could do what the service has left undone.
        const copy = `${file}.copy`;
        for (const suffix of ['', '-wal']) {
          rmSync(copy + suffix, { force: true });
          if (existsSync(file + suffix)) copyFileSync(file + suffix, copy + suffix);
        }
        const before = await changesOf(`sqlite:${copy}`);
        if (isByHand) {
          for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
          // Over the content of the same file.
          copyFileSync(backup, file);
        } else await succeed(['restore', backup, ...database]);
        for (const node of nodes) node.start();
        return before;
      });
    },
  };
}
