import assert from 'node:assert/strict';
import type { Service } from '../../http/harness.ts';

const HOUR_MS = 3_600_000;
export const ACTIVITY = '/v2/store/activity';

/** Boundaries of periods, as a parameter. */
export const hoursFromNow = (...hours: readonly number[]) =>
  hours.map((each) => new Date(Date.now() + each * HOUR_MS).toISOString()).join();

export async function activity({ call }: Service, query: string) {
  const answer = await call('GET', `${ACTIVITY}?${query}`);
  assert.equal(answer.status, 200, answer.body);
  return JSON.parse(answer.body);
}
