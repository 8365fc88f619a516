import { StoreNotUsable } from '../../store.ts';
import { USE_NO_POOLER } from './errors.ts';
import type { Session } from './session.ts';

/** A pooler with several idle connections may give a session the same one again by chance. */
const ROUNDS = 3;

/**
 * Checks that all statements of a session are executed by one process of the server, which no other session uses. A pooler that
 * switches connections between transactions would apply settings to one process and commit in another.
 * @param openAnother opens a further session at the same address; it has a transaction while `session` is used
 * @throws StoreNotUsable
 */
export async function expectOwnBackend(session: Session, openAnother: () => Promise<Session>) {
  const own = await session.backendPid();
  using other = await openAnother().catch((error) => {
    // Without a free connection on the server or for the role, the process ids that were read so far decide.
    if (session.announcedPid !== own) throw error;
    return undefined;
  });
  if (other === undefined) return;
  const expectSame = async () => {
    if ((await session.backendPid()) !== own) throw new StoreNotUsable(USE_NO_POOLER);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await other.run('BEGIN');
    if ((await other.backendPid()) === own) throw new StoreNotUsable(USE_NO_POOLER);
    await expectSame();
    await other.run('COMMIT');
    await expectSame();
  }
}

/**
 * Like `expectOwnBackend`, but opens no further session if the server itself answered. A pooler in between announces another process id than the
 * process that executes the statements has.
 */
export async function expectOwnBackendBehindProxy(
  session: Session,
  openAnother: () => Promise<Session>,
): Promise<void> {
  if (session.announcedPid === (await session.backendPid())) return;
  await expectOwnBackend(session, openAnother);
}
