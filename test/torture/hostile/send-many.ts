import { Agent } from 'node:http';
import { type Answer, type Call, send } from '../http.ts';
import type { Measured } from './trial.ts';

const AT_ONCE = 16;
const LIMIT_MS = 10_000;
/** Further requests are not sent after so many that were not answered. */
const MOST_WRONG = 20;

/** What is sent, and what is wrong with a response. */
export interface Requests {
  readonly port: number;
  readonly secret: string;
  readonly count: number;
  readonly next: () => Call;
  readonly problemOf: (call: Call, answer: Answer) => string | undefined;
}

/** Sends many requests. @returns how often each status came, or what was wrong */
export async function sendMany(requests: Requests): Promise<Measured> {
  const { port, secret, count, next, problemOf } = requests;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const wrong: string[] = [];
  const statuses = new Map<number, number>();
  let left = count;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const call = next();
      const answer = await send({ port, agent, limitMs: LIMIT_MS }, { ...call, secret }).catch(
        (error: Error) => error,
      );
      if (answer instanceof Error) {
        wrong.push(`no response (${answer.message}): ${JSON.stringify(call)}`);
        // The service may have ended.
        if (wrong.length > MOST_WRONG) return;
        continue;
      }
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const problem = problemOf(call, answer);
      if (problem === undefined) continue;
      wrong.push(
        `${problem}: ${JSON.stringify(call)} was answered ${answer.status} ${answer.body}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  agent.destroy();
  const found = [...statuses].map(([status, times]) => `${status} ${times} times`).join(', ');
  const isKept = wrong.length === 0;
  return { figures: isKept ? found : wrong.slice(0, 3).join('; '), isKept };
}
