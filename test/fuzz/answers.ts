import type { Step } from './script.ts';

export interface FuzzAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
  /** Whether all of it has come. */
  readonly isWhole: boolean;
}

/**
 * The final answers in what a connection received, as its steps lead to expect them: no answer to HEAD
 * has a body, for example.
 * @throws Error where the bytes are no answer
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
    if (status === 0) throw new Error(`no answer begins with ${JSON.stringify(head.slice(0, 60))}`);
    at = end + 4;
    if (status === 100) continue;
    const isEmpty = status === 304 || status === 204 || steps[answers.length]?.body === 'none';
    const length = isEmpty ? 0 : Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    const body = received.subarray(at, at + length);
    answers.push({ status, head, body, isWhole: body.length === length });
    at += length;
  }
  return answers;
}
