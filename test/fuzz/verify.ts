import { gunzipSync } from 'node:zlib';
import { answersIn, type FuzzAnswer } from './answers.ts';
import type { Played } from './client.ts';
import type { Script, Step } from './script.ts';

/** What is known of the orders that scripts have asked to cancel. */
export interface Cancels {
  /** A 204 said that it is cancelled. */
  readonly confirmed: Set<number>;
  /** The connection ended before the answer. */
  readonly unknown: Set<number>;
}

/** Whether every step that must be answered has been. */
export function isAnswered({ steps }: Script, received: Buffer): boolean {
  const mandatory = steps.filter(({ isOptional, statuses }) => !isOptional && statuses.length > 0);
  const whole = answersIn(received, steps).filter(({ isWhole }) => isWhole);
  return whole.length >= mandatory.length;
}

/** Compares the answers of a connection with its script; records its cancels. @returns the findings */
export function verify(script: Script, { received, end }: Played, cancels: Cancels): string[] {
  const findings: string[] = [];
  let answers: FuzzAnswer[];
  try {
    answers = answersIn(received, script.steps);
  } catch (error) {
    answers = [];
    findings.push((error as Error).message);
  }
  const mayLack = end === 'reset by the client';
  if (end === 'never') findings.push('the connection does not end');
  let next = 0;
  const gone: number[] = [];
  for (const step of script.steps) {
    const answer = answers[next];
    if (step.statuses.length === 0 || (step.isOptional && answer === undefined)) continue;
    next += 1;
    const isWhole = answer?.isWhole === true;
    if (step.cancels !== undefined) {
      if (isWhole && answer.status === 204) {
        cancels.confirmed.add(step.cancels);
        gone.push(step.cancels);
      } else if (!isWhole && mayLack) cancels.unknown.add(step.cancels);
    }
    if (isWhole) findings.push(...problemsOf(step, answer, gone));
    else if (!mayLack)
      findings.push(
        `${step.name}: ${answer === undefined ? 'no answer' : 'half an answer'} (${end})`,
      );
  }
  if (answers.length > next) findings.push(`${answers.length - next} answers more than requests`);
  return findings;
}

function problemsOf(step: Step, { status, body }: FuzzAnswer, gone: readonly number[]): string[] {
  if (!step.statuses.includes(status)) return [`${step.name}: answered ${status}`];
  if (status >= 400) {
    const record = JSON.parse(body.toString());
    return record.status === status && typeof record.code === 'string'
      ? []
      : [`${step.name}: ${body} is no Error record of a ${status}`];
  }
  if (step.body !== 'list' && step.body !== 'gzip') return [];
  // To decompress is most of what a connection costs here.
  if (step.body === 'gzip' && gone.length === 0) return [];
  const list = step.body === 'gzip' ? gunzipSync(body) : body;
  const isWhole = list.indexOf('[{') === 0 && list.lastIndexOf('}]') === list.length - 2;
  if (!isWhole) return [`${step.name}: no whole list`];
  return gone
    .filter((id) => list.includes(`"id":${id},`))
    .map((id) => `${step.name}: order ${id} is in it, which was cancelled before`);
}
