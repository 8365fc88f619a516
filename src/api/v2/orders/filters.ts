import type { Operations } from '../../../../protocol/generated/operations.ts';
import { parseBound, parseTimestamp } from '../../../domain/timestamp.ts';
import type { OrderFilter } from '../../../store/order-filter.ts';

/** The parameters that select orders; times per RFC 3339. */
type FilterParameters = Operations['countOrders']['parameters'];

/** Returns the same filter for all spellings of its parameters. */
export function filterOf({
  status,
  petId,
  reference,
  referencePrefix,
  referenceContains,
  ...times
}: FilterParameters): OrderFilter {
  const bounds = Object.entries(times).map(([name, text]) => [
    name,
    text === undefined ? undefined : parseBound(text),
  ]);
  const statuses = status && [...new Set(status)].sort();
  const texts = { reference, referencePrefix, referenceContains };
  return { statuses, petId, ...texts, ...Object.fromEntries(bounds) };
}

/** Parses a time that is valid by the contract. */
export function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimestamp(text);
}
