import {
  CSV_COLUMNS,
  type CsvForm,
  csvLine,
  EXACT,
  FOR_SPREADSHEETS,
  SPREADSHEET_ID,
} from '../../../protocol/csv.ts';
import { type Order, orderJson } from '../../domain/order.ts';
import { timeText } from '../../domain/timestamp.ts';

export const FORMATS = ['ndjson', 'json', 'csv', 'spreadsheet'] as const;
export type Format = (typeof FORMATS)[number];

/** The start of a file of orders, the text of each order, and the end of the file. */
interface Writer {
  readonly start: string;
  readonly order: (order: Order, index: number) => string;
  readonly end: string;
}

/**
 * Writers by format. Each writes all fields and the status. What they write can be imported again without loss, except the form for spreadsheets.
 */
export const WRITERS: Readonly<Record<Format, Writer>> = {
  ndjson: { start: '', order: (order) => `${withStatus(order)}\n`, end: '' },
  json: {
    start: '[',
    order: (order, index) => `${index === 0 ? '\n' : ',\n'}${withStatus(order)}`,
    end: '\n]\n',
  },
  csv: csvWriter(EXACT, CSV_COLUMNS),
  spreadsheet: csvWriter(FOR_SPREADSHEETS, [SPREADSHEET_ID, ...CSV_COLUMNS.slice(1)]),
};

function csvWriter(form: CsvForm, header: readonly string[]): Writer {
  return {
    start: form.mark + csvLine(form, header),
    order: ({ shipDate, ...order }) => {
      const values = { ...order, shipDate: timeText(shipDate) };
      return csvLine(
        form,
        CSV_COLUMNS.map((name) => values[name]),
      );
    },
    end: '',
  };
}

function withStatus(order: Order): string {
  const { status, reference, reason, trackingNumber } = order;
  // Some readers of lines take these for ends of lines.
  const texts = JSON.stringify({ status, reference, reason, trackingNumber })
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  return `${orderJson(order).slice(0, -1)},${texts.slice(1)}`;
}
