import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Backup, Rotated, Rotation } from '../../backups.ts';
import { errorOf, type Failure, failureOf } from '../database/errors.ts';
import { copySqlite, makeBackup } from './backup.ts';
import { rotateBackups } from './backup-rotation.ts';

/** The task of the thread: a backup now, or one if it is due. */
type Job =
  | { readonly job: 'backup'; readonly path: string; readonly target: string }
  | { readonly job: 'rotation'; readonly path: string; readonly rotation: Rotation };

type Answer<Result> = { readonly result: Result } | Failure;

/**
 * Makes a backup in a thread of its own: copying and checking a million orders takes seconds, and a disk can hang. A store that does not pass
 * the check is backed up too; see the findings.
 * @throws StoreNotUsable, StoreUnavailable
 */
export function backupInThread(path: string, target: string): Promise<Backup> {
  return runInThread<Backup>({ job: 'backup', path, target });
}

/** See `rotateBackups`, in a thread of its own. */
export function rotateInThread(path: string, rotation: Rotation): Promise<Rotated> {
  return runInThread<Rotated>({ job: 'rotation', path, rotation });
}

function runInThread<Result>(job: Job): Promise<Result> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job });
    worker.once('message', (answer: Answer<Result>) => {
      if ('failure' in answer) reject(errorOf(answer));
      else resolve(answer.result);
    });
    worker.once('error', reject);
    // Has no effect after an answer.
    worker.once('exit', () => reject(new Error('the thread of the backup has ended')));
  });
}

async function carryOut(job: Job): Promise<Backup | Rotated> {
  if (job.job === 'rotation') return rotateBackups(job.path, job.rotation);
  return makeBackup(job.target, async (partial) => copySqlite(job.path, partial), false);
}

if (!isMainThread && workerData?.job !== undefined) {
  const answer = await carryOut(workerData as Job).then((result) => ({ result }), failureOf);
  parentPort!.postMessage(answer);
}
