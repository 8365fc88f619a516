import type { Operations } from '../../../protocol/generated/operations.ts';
import { parseBound, parseTimestamp } from '../../domain/timestamp.ts';
import type { OrderFilter } from '../../store/pages.ts';

/** The parameters that select orders; times per RFC 3339. */
type FilterParameters = Operations['countOrders']['parameters'];

/** Returns the same filter for all spellings of its parameters. */
export function filterOf({
  status,
  petId,
  reference,
  referencePrefix,
  ...times
}: FilterParameters): OrderFilter {
  return {
    statuses: status && [...new Set(status)].sort(),
    petId,
    reference,
    referencePrefix,
    shipDateFrom: boundOf(times.shipDateFrom),
    shipDateBefore: boundOf(times.shipDateBefore),
    placedFrom: boundOf(times.placedFrom),
    placedBefore: boundOf(times.placedBefore),
    updatedFrom: boundOf(times.updatedFrom),
    updatedBefore: boundOf(times.updatedBefore),
  };
}

/** Parses a time that is valid by the contract. */
export function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseTimestamp(text);
}

function boundOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseBound(text);
}
