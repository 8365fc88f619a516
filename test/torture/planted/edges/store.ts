import type { SmallFault } from '../small-fault.ts';

const BATCH = 'src/domain/batch.ts';
const BULK_REQUESTS = 'src/store/tables/bulk-requests.ts';
const PAGES = 'src/store/postgres/pages.ts';
const ROWS = 'src/store/postgres/walk.ts';
const WALK = 'src/store/sqlite/walk.ts';
const BOUNDS = '"From" includes its time, and "before" does not.';
const A_DAY = 'An Idempotency-Key is valid for 24 hours.';

/** At the edges of pages, of requests that are repeated, of backups and of limits. */
export const store: readonly SmallFault[] = [
  {
    name: 'before-inclusive-by-the-index',
    breaks: BOUNDS,
    file: ROWS,
    text: 'column, each.sign,',
    fault: "column, each.sign === '<' ? '<=' : each.sign,",
    tests: ['store/pages'],
  },
  {
    name: 'from-exclusive-by-the-index',
    breaks: BOUNDS,
    file: ROWS,
    text: 'column, each.sign,',
    fault: "column, each.sign === '>=' ? '>' : each.sign,",
    tests: ['store/pages'],
  },
  {
    name: 'before-inclusive-beside-another-sort',
    breaks: BOUNDS,
    file: ROWS,
    text: '[each.sign, parameter]',
    fault: "[each.sign === '<' ? '<=' : each.sign, parameter]",
    tests: ['store/pages'],
  },
  {
    name: 'from-exclusive-beside-another-sort',
    breaks: BOUNDS,
    file: ROWS,
    text: '[each.sign, parameter]',
    fault: "[each.sign === '>=' ? '>' : each.sign, parameter]",
    tests: ['store/pages'],
  },
  {
    name: 'sqlite-before-inclusive',
    breaks: BOUNDS,
    file: WALK,
    text: '} < ?`, before]',
    fault: '} <= ?`, before]',
    tests: ['store/pages'],
  },
  {
    name: 'sqlite-before-inclusive-beside-another-sort',
    breaks: BOUNDS,
    file: WALK,
    text: 'COLUMNS[field], sign,',
    fault: "COLUMNS[field], sign === '<' ? '<=' : sign,",
    tests: ['store/pages'],
  },
  {
    name: 'references-in-the-order-of-the-database',
    breaks: 'References are sorted by their code points.',
    file: ROWS,
    text: 'columns: [REFERENCE, ',
    fault: "columns: ['orders.reference', ",
    tests: ['v2/list-orders'],
  },
  {
    name: 'page-in-the-order-of-the-database',
    breaks: 'References are sorted by their code points.',
    file: PAGES,
    text: `.replaceAll('key_', 'found.key_')`,
    fault: `.replaceAll('key_0', sort === 'reference' ? 'key_0 COLLATE "default"' : 'key_0').replaceAll('key_', 'found.key_')`,
    tests: ['store/pages', 'v2/list-orders'],
  },
  {
    name: 'page-of-a-part-without-later-orders',
    breaks: 'A page is one snapshot.',
    file: 'src/store/postgres/containing.ts',
    text: '} ORDER BY revision DESC',
    fault: '} AND false ORDER BY revision DESC',
    tests: ['store/reference-contains'],
  },
  {
    name: 'bulk-keys-for-an-hour',
    breaks: A_DAY,
    file: BULK_REQUESTS,
    text: 'at - PLACEMENT_KEPT_MS',
    fault: 'at - PLACEMENT_KEPT_MS / 72',
    tests: ['store/bulk'],
  },
  {
    name: 'unchanged-bulk-remembered',
    breaks: 'A request for several orders that has changed nothing is not remembered.',
    file: BATCH,
    text: 'repeatable !== undefined && results.some(isDone)',
    fault: 'repeatable !== undefined && (results.length > 0 || results.some(isDone))',
    tests: ['store/bulk'],
  },
  {
    name: 'stopped-backups-missed',
    breaks: 'doctor warns of a backup that is older than twice the interval.',
    file: 'src/cli/database/doctor/doctor.ts',
    text: '2 * everyMs',
    fault: '48 * everyMs',
    tests: ['process/backups'],
  },
  {
    name: 'one-backup-fewer',
    breaks: 'BACKUP_KEEP backups are kept.',
    file: 'src/store/sqlite/maintenance/backup-rotation.ts',
    text: '.slice(0, -rotation.keep)',
    fault: '.slice(0, 1 - rotation.keep)',
    tests: ['store/backup'],
  },
  {
    name: 'revision-at-exclusive',
    breaks: 'export --at has the changes up to a time, inclusive.',
    file: 'src/store/tables/store-row.ts',
    text: "sqlite: revisionAt('at > $1 AND head IS NOT NULL')",
    fault: "sqlite: revisionAt('at >= $1 AND head IS NOT NULL')",
    tests: ['process/restore'],
  },
  {
    name: 'postgres-revision-at-exclusive',
    breaks: 'export --at has the changes up to a time, inclusive.',
    file: 'src/store/tables/store-row.ts',
    text: "postgresql: revisionAt('at > $1')",
    fault: "postgresql: revisionAt('at >= $1')",
    tests: ['process/restore'],
  },
  {
    name: 'atomic-limit-one-too-many',
    breaks: 'An atomic request is refused if it exceeds the limit of cancels.',
    file: BATCH,
    text: 'allowance.has(changes.length)',
    fault: 'allowance.has(changes.length - 1)',
    tests: ['store/bulk'],
  },
  {
    name: 'atomic-although-one-is-unchanged',
    breaks: 'An atomic request changes all orders or none.',
    file: BATCH,
    text: 'if (!results.every(isDone))',
    fault: "if (!results.every((each) => isDone(each) || each === 'unchanged'))",
    tests: ['store/bulk'],
  },
  {
    name: 'keys-expire-soon-on-the-last-day',
    breaks: 'doctor names keys that expire within 14 days.',
    file: 'src/cli/database/doctor/store.ts',
    text: 'SOON_MS = 14 * 86_400_000',
    fault: 'SOON_MS = 2 * 86_400_000',
    tests: ['cli/doctor'],
  },
];
