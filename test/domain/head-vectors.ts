import { readFileSync } from 'node:fs';
import { parse } from '../../client/src/exact-json.ts';
import type { Change } from '../../protocol/generated/records.ts';

/** Vectors for implementations in any language; they were computed by a program of their own, in Python. */
export const VECTORS = parse(
  readFileSync(new URL('../../client/conformance/heads.json', import.meta.url), 'utf8'),
) as {
  readonly revisions: readonly {
    readonly revision: bigint;
    readonly changes: readonly Change[];
    readonly lines: readonly string[];
    readonly head: string;
  }[];
  /** Changes with a head that a verifier computes which does not know all rules. */
  readonly refused: readonly {
    readonly why: string;
    readonly after: string;
    readonly changes: readonly Change[];
    readonly next: string;
  }[];
};
