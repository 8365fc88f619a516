import { startThread } from '../../../assets.ts';
import { type Answer, resultOf } from '../database/errors.ts';
import type { Job } from './backup-thread.ts';

/**
 * Carries out a job in a thread of its own: copying and checking a million orders takes seconds, and a disk can hang.
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function inBackupThread<Result>(job: Job): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<Result>>();
  const worker = startThread('backup-thread', job);
  worker.once('message', resolve);
  worker.once('error', reject);
  // Has no effect after an answer.
  worker.once('exit', () => reject(new Error('the thread of the backup has ended')));
  return resultOf(await promise);
}
