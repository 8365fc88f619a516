import { positionText } from '../../../protocol/history.ts';
import type { Findings } from '../../store/tables/consistency.ts';

/** Returns the head of a store, to be kept, and what a check has found in its history: lines for the operator. */
export function historyLines({ revision, head, heads }: Findings): string[] {
  const altered = heads?.problems ?? [];
  return [
    ...(head === undefined ? [] : [`Its head is ${positionText({ revision, head })}.`]),
    ...altered.map((problem) => `Warning: ${problem}.`),
  ];
}
