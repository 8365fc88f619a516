import type { Step } from './step.ts';

export interface FuzzAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
  /** Whether it arrived completely. */
  readonly isWhole: boolean;
}

/**
 * Parses the final responses that a connection received. The steps tell which responses have no body, such as
 * those to HEAD.
 * @throws Error if the bytes are not a response
 */
export function answersIn(received: Buffer, steps: readonly Step[]): FuzzAnswer[] {
  const answers: FuzzAnswer[] = [];
  let at = 0;
  while (at < received.length) {
    const end = received.indexOf('\r\n\r\n', at);
    const head = received.toString('latin1', at, end === -1 ? received.length : end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1] ?? 0);
    if (end === -1) {
      answers.push({ status, head, body: Buffer.alloc(0), isWhole: false });
      break;
    }
    if (status === 0) throw new Error(`not a response: ${JSON.stringify(head.slice(0, 60))}`);
    at = end + 4;
    if (status === 100) continue;
    if (status === 200 && steps[answers.length]?.body === 'stream') {
      // Its events are chunks, until one of the sides closes the connection.
      answers.push({ status, head, body: received.subarray(at), isWhole: true });
      break;
    }
    const isEmpty = status === 304 || status === 204 || steps[answers.length]?.body === 'none';
    const length = isEmpty ? 0 : Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const body = received.subarray(at, at + length);
    answers.push({ status, head, body, isWhole: body.length === length });
    at += length;
  }
  return answers;
}
