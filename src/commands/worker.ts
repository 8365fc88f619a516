import type { Config } from '../config.ts';
import { createLog } from '../http/logging.ts';
import { databaseFile } from '../store/open.ts';
import { StoreNotUsable } from '../store/store.ts';
import { changeLogLevelOnSignal } from './live-log-level.ts';
import { Service } from './service.ts';
import { stopWhenTold } from './stop-on-signal.ts';
import { DATABASE_FILE, type Question, type ToPrimary, type ToWorker } from './worker-messages.ts';

/** One of several processes that serve together; workers.ts is the primary, which starts it. */
export async function serveAsWorker(config: Config, id: number): Promise<void> {
  const log = createLog(config.logLevel, { worker: id });
  const service = new Service(config, log);
  const stop = async () => {
    send({ type: 'stopping' });
    await service.close();
  };
  const ending = stopWhenTold(log, stop, config.stopLimitMs);
  changeLogLevelOnSignal(log.logger);
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') ending.begin('told by the primary');
    else if (message.type === 'logLevel') log.logger.level = message.level;
    else void reply(service, message.id, message.question);
  });
  try {
    await service.open({ create: false }, () => {});
    refuseOtherFile(config);
    send({ type: 'serving', address: await service.listen() });
  } catch (error) {
    // What is being ended fails at what it was about to do.
    if (ending.hasBegun) return;
    // These would keep the process alive.
    await service.close().catch(() => {});
    process.channel?.unref();
    throw error;
  }
}

/** A file that was put in the place of the one that the others have is not what they serve. */
function refuseOtherFile({ databaseUrl }: Config): void {
  if (databaseFile(databaseUrl) === process.env[DATABASE_FILE]) return;
  throw new StoreNotUsable(
    'the database is another file than the one that the service was started with; start it anew',
  );
}

async function reply(service: Service, id: number, question: Question) {
  const answer =
    question === 'metrics'
      ? await service.registry.getMetricsAsJSON()
      : // A message has no undefined.
        ((await service.whyNotReady()) ?? null);
  send({ type: 'answer', id, answer });
}

function send(message: ToPrimary): void {
  // Nobody is there to hear it if that fails.
  if (process.connected) process.send!(message, undefined, undefined, () => {});
}
