import { gunzipSync } from 'node:zlib';
import { answersIn, type FuzzAnswer } from './answers.ts';
import type { PlayResult } from './client.ts';
import type { Script } from './script.ts';
import type { Step } from './step.ts';

/** The orders that scripts asked to cancel or to place, as far as clients know. */
export interface Outcomes {
  /** Ids of the orders that a 201 says are placed. */
  readonly placed: Set<number>;
  /** Confirmed as cancelled by a 200 or 204. */
  readonly confirmed: Set<number>;
  /** The connection ended before the response. */
  readonly unknown: Set<number>;
}

/** Whether every mandatory response has arrived. */
export function isAnswered({ steps }: Script, received: Buffer): boolean {
  const mandatory = steps.filter(({ isOptional, statuses }) => !isOptional && statuses.length > 0);
  const whole = answersIn(received, steps).filter(({ isWhole }) => isWhole);
  return whole.length >= mandatory.length;
}

/** Compares the responses on a connection with its script, and records its outcomes. @returns the findings */
export function verify(
  script: Script,
  { received, end }: PlayResult,
  outcomes: Outcomes,
): string[] {
  const findings: string[] = [];
  let answers: FuzzAnswer[];
  try {
    answers = answersIn(received, script.steps);
  } catch (error) {
    answers = [];
    findings.push((error as Error).message);
  }
  const mayBeMissing = end === 'reset by the client';
  if (end === 'never') findings.push('the connection does not end');
  let next = 0;
  const cancelled: number[] = [];
  for (const step of script.steps) {
    const answer = answers[next];
    if (step.statuses.length === 0 || (step.isOptional && answer === undefined)) continue;
    next += 1;
    const isWhole = answer?.isWhole === true;
    if (step.cancels !== undefined) {
      if (isWhole && answer.status < 300) {
        outcomes.confirmed.add(step.cancels);
        cancelled.push(step.cancels);
      } else if (!isWhole && mayBeMissing) outcomes.unknown.add(step.cancels);
    }
    if (step.places && isWhole && answer.status === 201) {
      outcomes.placed.add(JSON.parse(answer.body.toString()).id);
    }
    if (isWhole) findings.push(...problemsOf(step, answer, cancelled));
    else if (!mayBeMissing)
      findings.push(
        `${step.name}: ${answer === undefined ? 'no response' : 'an incomplete response'} (${end})`,
      );
  }
  if (answers.length > next) findings.push(`${answers.length - next} more responses than requests`);
  return findings;
}

function problemsOf(
  step: Step,
  { status, head, body }: FuzzAnswer,
  cancelled: readonly number[],
): string[] {
  if (!step.statuses.includes(status)) return [`${step.name}: answered ${status}`];
  if (status >= 400 && step.body !== 'none') {
    const record = JSON.parse(body.toString());
    return record.status === status && typeof record.code === 'string'
      ? []
      : [`${step.name}: ${body} is not an Error record of a ${status}`];
  }
  if (step.body !== 'list' && step.body !== 'gzip') return [];
  // Decompression dominates the cost of a connection here.
  if (step.body === 'gzip' && cancelled.length === 0) return [];
  // A busy service leaves out the compression.
  const isCompressed = /^content-encoding: gzip$/im.test(head);
  const list = isCompressed ? gunzipSync(body) : body;
  const isWhole = list.indexOf('[{') === 0 && list.lastIndexOf('}]') === list.length - 2;
  if (!isWhole) return [`${step.name}: not a complete list`];
  return cancelled
    .filter((id) => list.includes(`"id":${id},`))
    .map((id) => `${step.name}: contains order ${id}, which was cancelled before`);
}
