import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Backup, copySqlite, makeBackup } from './backup.ts';
import { errorOf, type Failure, failureOf } from './thread-failure.ts';

interface BackupJob {
  readonly path: string;
  readonly target: string;
  readonly mustBeSound: boolean;
}

type Answer = { readonly backup: Backup } | Failure;

/**
 * Makes a backup in a thread of its own: copying and checking a million orders takes seconds, in which requests are served.
 * @throws StoreNotUsable, StoreUnavailable
 */
export async function backupInThread(job: BackupJob): Promise<Backup> {
  const worker = new Worker(new URL(import.meta.url), { workerData: job });
  // An error of the thread itself rejects here.
  const [answer] = (await once(worker, 'message')) as [Answer];
  if ('failure' in answer) throw errorOf(answer);
  return answer.backup;
}

if (!isMainThread) {
  const { path, target, mustBeSound } = workerData as BackupJob;
  const copy = async (partial: string) => copySqlite(path, partial);
  const answer = await makeBackup(target, copy, mustBeSound).then(
    (backup): Answer => ({ backup }),
    failureOf,
  );
  parentPort!.postMessage(answer);
}
