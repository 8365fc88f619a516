import { startThread } from '../../../assets.ts';
import type { Backup, Rotated, Rotation } from '../../backups.ts';
import { type Answer, resultOf } from '../database/errors.ts';
import type { Job } from './backup-thread.ts';

/**
 * Makes a backup in a thread of its own: copying and checking a million orders takes seconds, and a disk can hang. A store that does not pass
 * the check is backed up too; see the findings.
 * @throws StoreNotUsable, StoreUnavailable
 */
export function backupInThread(path: string, target: string): Promise<Backup> {
  return runInThread({ job: 'backup', path, target });
}

/** See `rotateBackups`, in a thread of its own. */
export function rotateInThread(path: string, rotation: Rotation): Promise<Rotated> {
  return runInThread({ job: 'rotation', path, rotation });
}

async function runInThread<Result>(job: Job): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Result>>();
  const worker = startThread('backup-thread', job);
  worker.once('message', resolve);
  worker.once('error', reject);
  // Has no effect after an answer.
  worker.once('exit', () => reject(new Error('the thread of the backup has ended')));
  return resultOf(await promise);
}
