// Orders as CSV (RFC 4180), in two forms: exact, which "import" reads without loss, and for spreadsheets, which would round long integers and
// calculate texts that look like formulas.

/** The columns that "import" reads, in the order in which they are written. */
export const CSV_COLUMNS = [
  ...(['id', 'petId', 'quantity', 'shipDate', 'complete', 'status'] as const),
  ...(['reference', 'reason', 'trackingNumber'] as const),
] as const;

/** The name of the column `id` in the form for spreadsheets, by which "import" recognizes such a file. */
export const SPREADSHEET_ID = 'orderId';

/** How cells are written, and lines end. */
export interface CsvForm {
  /** At the beginning of the file. */
  readonly mark: string;
  readonly lineEnd: string;
  readonly cell: (value: CsvValue) => string;
}

type CsvValue = bigint | boolean | string | undefined;

export const EXACT: CsvForm = { mark: '', lineEnd: '\n', cell: exactCell };

/** Excel reads UTF-8 only with a byte order mark. */
export const FOR_SPREADSHEETS: CsvForm = { mark: '\ufeff', lineEnd: '\r\n', cell: guardedCell };

export function csvLine({ cell, lineEnd }: CsvForm, values: readonly CsvValue[]): string {
  return `${values.map(cell).join(',')}${lineEnd}`;
}

function exactCell(value: CsvValue): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** What a spreadsheet keeps as it is: integers of up to 15 digits. */
const KEPT = /^(?:0|-?[1-9]\d{0,14})$/;
/** A text that it would take for a number, a date or a truth value: 0034, 1E5, 1-2, 12:30, $5, TRUE. */
const LIKE_A_NUMBER = /^(?:[\d.$€%][\d.,:/eE+%$€ -]*|true|false)$/i;

/**
 * An integer that would be rounded, or a text that would become a number or a date, is written as a formula with a text, so that no character is
 * lost. A text that begins like a formula gets an apostrophe before it.
 */
function guardedCell(value: CsvValue): string {
  const isNumber =
    typeof value === 'bigint' || (typeof value === 'string' && LIKE_A_NUMBER.test(value));
  if (isNumber && !KEPT.test(String(value))) return `"=""${value}"""`;
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(value);
  return exactCell(isFormula ? `'${value}` : value);
}
