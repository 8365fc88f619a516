import type { OrderRecord } from '@store-orders/client';
import { CSV_COLUMNS, csvLine, FOR_SPREADSHEETS, SPREADSHEET_ID } from '../../../protocol/csv.ts';
import { sumOf } from '../activity/activity.ts';
import { now } from '../clock.ts';
import { orders as ordersText } from '../format.ts';
import type { Column } from '../preferences.ts';
import type { Screen } from '../screen.ts';
import { hiddenIn } from '../state.ts';
import { TYPES } from './address.ts';
import { matchingOrders } from './matching-orders.ts';
import { dayText } from './range.ts';

const FIELDS = [...CSV_COLUMNS, 'placedAt', 'updatedAt'] as const;
type Field = (typeof FIELDS)[number];

/** Which columns of the list stand for a field; other fields are always written. */
const COLUMN_OF: Partial<Record<Field, Column>> = {
  petId: 'pet',
  quantity: 'quantity',
  shipDate: 'ships',
  reference: 'reference',
  placedAt: 'placed',
  updatedAt: 'changed',
};

const line = (cells: Parameters<typeof csvLine>[1]) => csvLine(FOR_SPREADSHEETS, cells);

/**
 * Writes the orders that match the filters to a file, without the columns that the user has left out, page by page; the browser keeps the parts on disk.
 * @param only ids of orders; all orders if undefined
 */
export async function exportCsv(screen: Screen, only?: readonly bigint[]): Promise<void> {
  const { session, exported } = screen.state;
  if (session === undefined || exported !== undefined) return;
  const hidden = hiddenIn(screen.state);
  const fields = FIELDS.filter((each) => !hidden.some((column) => column === COLUMN_OF[each]));
  const header = fields.map((each) => (each === 'id' ? SPREADSHEET_ID : each));
  const parts: Blob[] = [new Blob([FOR_SPREADSHEETS.mark + line(header)])];
  let count = 0;
  screen.set({ exported: 0 });
  try {
    for await (const found of matchingOrders(screen, session, only)) {
      if (screen.state.exported === undefined) return;
      const lines = found.map((order) => line(fields.map((each) => order[each])));
      parts.push(new Blob([lines.join('')]));
      count += found.length;
      screen.set({ exported: count });
    }
    download(parts, 'orders');
    screen.toast(`${ordersText(count)} exported`);
  } catch (error) {
    const problem = screen.problemOf(session, error);
    if (problem !== undefined) screen.toast(`Not exported. ${problem}`, true);
  } finally {
    screen.set({ exported: undefined });
  }
}

/** Writes the activity that is shown to a file, a line for each day and one for all. */
export function exportActivity({ state }: Screen): void {
  const periods = state.activity?.found?.periods ?? [];
  const lines = [
    ['from', 'before', ...TYPES],
    ...periods.map((each) => [each.from, each.before, ...TYPES.map((type) => each[type])]),
    ['total', undefined, ...TYPES.map((type) => sumOf(periods, type))],
  ];
  download([FOR_SPREADSHEETS.mark + lines.map(line).join('')], 'activity');
}

/** Writes what a key did on a day to a file, with each order as it was after the change. */
export function exportKey({ state }: Screen): void {
  const changes = state.ofKey?.changes ?? [];
  const header = ['at', 'type', ...FIELDS.map((each) => (each === 'id' ? SPREADSHEET_ID : each))];
  const valuesOf = (order: OrderRecord) => FIELDS.map((each) => order[each]);
  const lines = changes.map(({ at, type, order }) => [at, type, ...valuesOf(order)]);
  const name = `changes-${state.view.by}-${state.view.day || dayText(now())}`;
  download([FOR_SPREADSHEETS.mark + [header, ...lines].map(line).join('')], name, '');
}

function download(parts: readonly BlobPart[], name: string, suffix = `-${dayText(now())}`): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type: 'text/csv' }));
  link.download = `${name}${suffix}.csv`;
  link.click();
  // The browser reads the URL after this turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
