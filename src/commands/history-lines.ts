import { endText } from '../orders/heads.ts';
import type { Findings } from '../store/tables/consistency.ts';

/** Returns the head of a store, to be kept, and what a check has found in its history: lines for the operator. */
export function historyLines({ revision, head, heads }: Findings): string[] {
  const altered = heads?.problems ?? [];
  return [
    ...(head === undefined ? [] : [`Its head is ${endText({ revision, head })}.`]),
    ...altered.map((problem) => `Warning: ${problem}.`),
  ];
}
