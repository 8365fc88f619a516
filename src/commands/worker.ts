import type { Config } from '../config.ts';
import { createLog } from '../http/logging.ts';
import { openService, type Service } from './service.ts';
import { stopWhenTold } from './stop-on-signal.ts';
import type { Question, ToPrimary, ToWorker } from './worker-messages.ts';

/** One of several processes that serve together; workers.ts is the primary, which starts it. */
export async function serveAsWorker(config: Config, id: number): Promise<void> {
  const log = createLog(config.logLevel, { worker: id });
  const opening = openService(config, log.logger);
  const stop = stopWhenTold(log, async () => (await opening).close());
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') stop();
    else void opening.then((service) => reply(service, message.id, message.question));
  });
  try {
    const service = await opening;
    send({ type: 'serving', address: await service.listen() });
  } catch (error) {
    // Otherwise the channel to the primary would keep the process alive.
    process.disconnect!();
    throw error;
  }
}

async function reply({ isReady, registry }: Service, id: number, question: Question) {
  const answer = question === 'isReady' ? await isReady() : await registry.getMetricsAsJSON();
  send({ type: 'answer', id, answer });
}

function send(message: ToPrimary): void {
  if (process.connected) process.send!(message);
}
