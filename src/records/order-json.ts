import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json } from '../../protocol/exact-json.ts';
import type * as Contract from '../../protocol/generated/records.ts';
import { positionText } from '../../protocol/history.ts';
import type { OrderChange } from '../domain/change.ts';
import { type OrderRecord, orderJson } from '../domain/order.ts';
import { asciiJson } from '../domain/text.ts';
import { formatTimestamp } from '../domain/timestamp.ts';
import type { ChangePage } from '../store/feed.ts';
import { orderEtag } from './etags.ts';

/** Formats an order as v2's Order record: the fields of v1, then those that the store records. Pure ASCII. */
export function orderRecordJson(record: OrderRecord): Json<Contract.OrderRecord> {
  const { reference, status, reason, trackingNumber, placedAt, updatedAt, revision } = record;
  const placed = formatTimestamp(placedAt);
  const updated = updatedAt === placedAt ? placed : formatTimestamp(updatedAt);
  const name = reference === undefined ? '' : `"reference":${asciiJson(reference)},`;
  const fields = `${orderJson(record).slice(0, -1)},${name}"status":"${status}"${detailJson({ reason, trackingNumber })}`;
  const times = `"placedAt":"${placed}","updatedAt":"${updated}"`;
  const etag = asciiJson(orderEtag(record));
  return `${fields},${times},"revision":${revision},"etag":${etag}}` as Json<Contract.OrderRecord>;
}

/** Formats the fields that only cancelled or shipped orders can have, with a comma before each. */
function detailJson({ reason, trackingNumber }: Pick<OrderRecord, 'reason' | 'trackingNumber'>) {
  if (reason !== undefined) return `,"reason":${asciiJson(reason)}`;
  return trackingNumber === undefined ? '' : `,"trackingNumber":${asciiJson(trackingNumber)}`;
}

const RECORDS_PER_TURN = 100;

/** Formats orders or changes in several turns of the event loop: a page has hundreds, and one revision can have thousands. */
export async function formatInTurns<T>(
  items: readonly T[],
  format: (item: T) => string,
): Promise<string[]> {
  const records: string[] = [];
  for (let from = 0; from < items.length; from += RECORDS_PER_TURN) {
    if (from > 0) await nextTurn();
    records.push(...items.slice(from, from + RECORDS_PER_TURN).map(format));
  }
  return records;
}

/** Formats a change as v2's Change record. */
export function changeJson({ type, by, order }: OrderChange): string {
  const at = formatTimestamp(order.updatedAt);
  const author = by === undefined ? '' : `"by":${JSON.stringify(by)},`;
  return `{"revision":${order.revision},"type":"${type}","at":"${at}",${author}"order":${orderRecordJson(order)}}`;
}

/** Formats a page as v2's ChangePage record. */
export async function changePageJson({
  changes,
  position,
  isMore,
  now,
}: ChangePage): Promise<Json<Contract.ChangePage>> {
  const records = await formatInTurns(changes, changeJson);
  const next = `"next":"${positionText(position)}","more":${isMore}`;
  const page = `{"changes":[${records.join()}],${next},"revision":${now.revision},"head":"${now.head}"}`;
  return page as Json<Contract.ChangePage>;
}
