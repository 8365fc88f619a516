import {
  CSV_COLUMNS,
  type CsvForm,
  csvLine,
  EXACT,
  FOR_SPREADSHEETS,
  SPREADSHEET_ID,
} from '../../../protocol/csv.ts';
import { type Order, orderJson } from '../../domain/order.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';

export const FORMATS = ['ndjson', 'json', 'csv', 'spreadsheet'] as const;
export type Format = (typeof FORMATS)[number];

/** The start of a file of orders, the text of each order, and the end of the file. */
interface Writer {
  readonly start: string;
  readonly order: (order: Order, index: number) => string;
  readonly end: string;
}

/**
 * Writers by format. Each writes all fields and the status; all but that for spreadsheets so that the output can be imported again without loss.
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
      const values = {
        ...order,
        shipDate: shipDate === undefined ? undefined : formatTimestamp(shipDate),
      };
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
  const texts = JSON.stringify({ status, reference, reason, trackingNumber });
  return `${orderJson(order).slice(0, -1)},${texts.slice(1)}`;
}
