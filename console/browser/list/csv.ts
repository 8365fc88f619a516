import type { OrderRecord } from '@store-orders/client';
import { now } from '../clock.ts';
import { orders as ordersText } from '../format.ts';
import type { Screen } from '../screen.ts';
import { orderQuery } from './address.ts';

const COLUMNS = [
  'id',
  'petId',
  'quantity',
  'shipDate',
  'status',
  'complete',
  'reference',
  'reason',
  'trackingNumber',
  'placedAt',
  'updatedAt',
] as const;

/** Spreadsheets round integers with more digits than this. */
const EXACT_DIGITS = 15;

/** Writes an order as a line of CSV (RFC 4180). */
function csvLine(order: OrderRecord): string {
  return `${COLUMNS.map((column) => cellOf(order[column])).join(',')}\r\n`;
}

/** A long integer becomes a formula with a text, so that no digit is lost. A text that begins like a formula gets an apostrophe before it. */
function cellOf(value: OrderRecord[(typeof COLUMNS)[number]]): string {
  if (value === undefined) return '';
  if (typeof value === 'bigint') {
    const digits = String(value);
    return digits.length > EXACT_DIGITS ? `"=""${digits}"""` : digits;
  }
  if (typeof value === 'boolean') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes all orders that match the filters to a file, page by page; the browser keeps the parts on disk. */
export async function exportCsv(screen: Screen): Promise<void> {
  const { session, view, exported } = screen.state;
  if (session === undefined || exported !== undefined) return;
  const parts: Blob[] = [new Blob([`\ufeff${COLUMNS.join(',')}\r\n`])];
  let count = 0;
  screen.change((state) => (state.exported = 0));
  try {
    const options = { signal: session.ending.signal };
    for await (const { orders } of session.client.pages(
      { ...orderQuery(view), limit: 500 },
      options,
    )) {
      if (screen.state.exported === undefined) return;
      parts.push(new Blob([orders.map(csvLine).join('')]));
      count += orders.length;
      screen.change((state) => (state.exported = count));
    }
    download(
      new Blob(parts, { type: 'text/csv' }),
      `orders-${now().toISOString().slice(0, 10)}.csv`,
    );
    screen.toast(`${ordersText(count)} exported`);
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not exported. ${problem}`, true);
  } finally {
    screen.change((state) => (state.exported = undefined));
  }
}

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser reads the URL after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
