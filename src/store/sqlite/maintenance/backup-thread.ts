// Runs in a thread of its own, see backup-in-thread.ts.

import { parentPort, workerData } from 'node:worker_threads';
import type { Backup, Rotated, Rotation } from '../../backups.ts';
import { answerOf } from '../database/errors.ts';
import { copySqlite, makeBackup } from './backup.ts';
import { rotateBackups } from './backup-rotation.ts';

/** The task of the thread: a backup now, also of a store that does not pass the check, or one if it is due. */
export type Job =
  | { readonly job: 'backup'; readonly path: string; readonly target: string }
  | { readonly job: 'rotation'; readonly path: string; readonly rotation: Rotation };

async function carryOut(job: Job): Promise<Backup | Rotated> {
  if (job.job === 'rotation') return rotateBackups(job.path, job.rotation);
  return makeBackup(job.target, (partial) => copySqlite(job.path, partial), false);
}

parentPort!.postMessage(await answerOf(() => carryOut(workerData as Job)));
