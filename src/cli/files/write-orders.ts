import { type Order, orderJson } from '../../domain/order.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { ORDER_COLUMNS } from './fields.ts';

export const FORMATS = ['ndjson', 'json', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** The start of a file of orders, the text of each order, and the end of the file. */
interface Writer {
  readonly start: string;
  readonly order: (order: Order, index: number) => string;
  readonly end: string;
}

/**
 * Writers by format. Each writes all fields and the status, so that the output can be imported again without loss.
 */
export const WRITERS: Readonly<Record<Format, Writer>> = {
  ndjson: { start: '', order: (order) => `${withStatus(order)}\n`, end: '' },
  json: {
    start: '[',
    order: (order, index) => `${index === 0 ? '\n' : ',\n'}${withStatus(order)}`,
    end: '\n]\n',
  },
  csv: {
    start: `${Object.keys(ORDER_COLUMNS).join(',')}\n`,
    order: ({ id, petId, quantity, shipDate, complete, status, ...texts }) => {
      const date = shipDate === undefined ? '' : formatTimestamp(shipDate);
      const fields = `${id},${petId ?? ''},${quantity ?? ''},${date},${complete ?? ''},${status}`;
      const { reference, reason, trackingNumber } = texts;
      return `${fields},${csvText(reference)},${csvText(reason)},${csvText(trackingNumber)}\n`;
    },
    end: '',
  },
};

/** Quotes a text where CSV needs that: RFC 4180, section 2. */
function csvText(text = ''): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withStatus(order: Order): string {
  const { status, reference, reason, trackingNumber } = order;
  const texts = JSON.stringify({ status, reference, reason, trackingNumber });
  return `${orderJson(order).slice(0, -1)},${texts.slice(1)}`;
}
