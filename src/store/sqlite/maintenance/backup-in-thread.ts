import { startThread } from '../../../assets.ts';
import type { Backup, Rotated, Rotation } from '../../backups.ts';
import { errorOf } from '../database/errors.ts';
import type { BackupAnswer, Job } from './backup-thread.ts';

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
    const worker = startThread('backup-thread', job);
    worker.once('message', (answer: BackupAnswer<Result>) => {
      if ('failure' in answer) reject(errorOf(answer));
      else resolve(answer.result);
    });
    worker.once('error', reject);
    // Has no effect after an answer.
    worker.once('exit', () => reject(new Error('the thread of the backup has ended')));
  });
}
