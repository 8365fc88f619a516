// Examines images, one at a time, in a process under the shim: rebuilt files must have the identity of the original ones.
import { Random } from '../random.ts';
import type { Claim } from './claims.ts';
import { SCENARIOS } from './scenarios.ts';

/** An image to examine, as it is sent to the process. */
export interface Assignment {
  readonly scenario: string;
  /** The folder with the files. */
  readonly folder: string;
  readonly claims: readonly Claim[];
  readonly requested: readonly string[];
  readonly secret: string;
  readonly seed: number;
}

/** The findings: undefined if the image is as it must be. */
export interface Examined {
  readonly finding: string | undefined;
}

process.on('message', async ({ scenario, folder, seed, requested, ...rest }: Assignment) => {
  process.chdir(folder);
  let finding: string | undefined;
  try {
    const expected = { ...rest, requested: new Set(requested) };
    await SCENARIOS.find(({ name }) => name === scenario)!.examine(expected, new Random(seed));
  } catch (error) {
    finding = (error as Error).message ?? String(error);
  }
  process.send!({ finding } satisfies Examined);
});
