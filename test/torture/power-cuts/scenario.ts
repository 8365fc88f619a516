import { succeed } from '../command.ts';
import type { Random } from '../random.ts';
import type { Expected } from './claims.ts';
import type { Recorded } from './recording.ts';

/** Something that an operator or a client does, during which the power fails. */
export interface Scenario {
  readonly name: string;
  /** Carries it out in an empty folder. @param shim the path of the library that records */
  readonly record: (root: string, shim: string) => Promise<Recorded>;
  /** Examines what a power cut has left, in the current folder. @throws AssertionError */
  readonly examine: (expected: Expected, random: Random) => Promise<void>;
}

/** Creates a store with the pending orders 1 to `count` of the pets of the same numbers. @returns the secret of a key */
export async function makeStore(path: string, count: number): Promise<string> {
  const database = ['--database', `sqlite:${path}`];
  await succeed(['import', '-', ...database], { input: ordersFrom(1, count) });
  return succeed(['keys', 'create', '--name', 'torture', ...database]);
}

/** Orders as NDJSON, with the ids from `first` on. */
export function ordersFrom(first: number, count: number): string {
  const ids = Array.from({ length: count }, (_, index) => first + index);
  return ids.map((id) => `{"id":${id},"petId":${id},"quantity":1}\n`).join('');
}
