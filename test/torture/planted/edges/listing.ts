import type { SmallFault } from '../small-fault.ts';

const LISTING = 'src/listing/listing.ts';
const PARSERS = 'src/service/settings/parsers.ts';
const SENDER = 'src/listing/sender.ts';

/** At the edges of v1's list, and of the settings. */
export const listing: readonly SmallFault[] = [
  {
    name: 'list-kept-for-an-hour',
    breaks: 'The list stays in memory until there was no request for it for 24 hours.',
    file: LISTING,
    text: 'LIST_KEPT_MS = 24 * 60 * 60 * 1_000',
    fault: 'LIST_KEPT_MS = 60 * 60 * 1_000',
    tests: ['listing/listing'],
  },
  {
    name: 'use-recorded-each-minute',
    breaks: 'A use of the list is recorded once an hour at most.',
    file: LISTING,
    text: 'USE_REPORTED_MS = 60 * 60 * 1_000',
    fault: 'USE_REPORTED_MS = 60 * 1_000',
    tests: ['listing/listing'],
  },
  {
    name: 'one-slow-client-cut-off',
    breaks:
      'Beyond the bound of superseded blocks, all responses of the oldest snapshots are destroyed.',
    file: SENDER,
    text: 'for (const response of responses) response.destroy();',
    fault: '[...responses][0]?.destroy();',
    tests: ['listing/sender'],
  },
  {
    name: 'highest-port-refused',
    breaks: 'A port is from 0 to 65535.',
    file: PARSERS,
    text: 'Number(text) <= 65_535',
    fault: 'Number(text) < 65_535',
    tests: ['service/config'],
  },
  {
    name: 'a-thousand-backups-refused',
    breaks: 'BACKUP_KEEP is a number from 1 to 1000.',
    file: PARSERS,
    text: 'Number(text) <= 1_000 ?',
    fault: 'Number(text) < 1_000 ?',
    tests: ['service/config'],
  },
  {
    name: 'more-than-a-thousand-backups',
    breaks: 'BACKUP_KEEP is a number from 1 to 1000.',
    file: PARSERS,
    text: 'Number(text) <= 1_000 ?',
    fault: 'Number(text) <= 1_001 ?',
    tests: ['service/config'],
  },
  {
    name: 'minutes-for-days',
    breaks: 'A duration has the unit s, m, h or d.',
    file: PARSERS,
    text: 'd: 86_400_000',
    fault: 'd: 8_640_000',
    tests: ['service/config'],
  },
  {
    name: 'year-of-backups-refused',
    breaks: 'BACKUP_EVERY is up to 365d.',
    file: PARSERS,
    text: 'ms <= 365 * UNITS_MS.d',
    fault: 'ms < 365 * UNITS_MS.d',
    tests: ['service/config'],
  },
  {
    name: 'backups-each-leap-year',
    breaks: 'BACKUP_EVERY is up to 365d.',
    file: PARSERS,
    text: 'ms <= 365 * UNITS_MS.d',
    fault: 'ms <= 366 * UNITS_MS.d',
    tests: ['service/config'],
  },
  {
    name: 'store-name-in-code-units',
    breaks: 'STORE_NAME has up to 100 characters.',
    file: 'src/service/settings/table.ts',
    text: '[...given].length <= MAX_STORE_NAME',
    fault: 'given.length <= MAX_STORE_NAME',
    tests: ['service/config'],
  },
  {
    name: 'store-name-of-any-length',
    breaks: 'STORE_NAME has up to 100 characters.',
    file: 'src/service/settings/table.ts',
    text: 'MAX_STORE_NAME = 100',
    fault: 'MAX_STORE_NAME = 101',
    tests: ['service/config'],
  },
  {
    name: 'one-origin-of-several',
    breaks: 'CORS_ORIGINS are comma-separated origins.',
    file: PARSERS,
    text: 'origins.every(isOrigin)',
    fault: 'origins.some(isOrigin)',
    tests: ['service/config'],
  },
  {
    name: 'https-url-of-v1-only',
    breaks: 'BASE_URL is an http or https URL without a query.',
    file: PARSERS,
    text: "url.search === '' && url.hash === ''",
    fault: "url.search === ''",
    tests: ['service/config'],
  },
  {
    name: 'backups-need-no-restart',
    breaks: 'A change of a setting takes effect with a restart, unless it is live.',
    file: 'src/service/settings/config.ts',
    text: 'running.backups !== undefined || next.backups !== undefined',
    fault: 'running.backups === undefined && next.backups !== undefined',
    tests: ['service/config'],
  },
];
