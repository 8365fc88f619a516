import type { SmallFault } from '../small-fault.ts';

const CHANGE_ORDERS = 'src/cli/orders/change-orders.ts';
const CHECK_FILE = 'src/cli/orders/import/check-file.ts';
const KEYS = 'src/cli/keys.ts';
const TERMINAL = 'src/cli/terminal/terminal.ts';
const AS_THEY_WERE = '--orders changes exactly these orders, if they are still as they were.';

/** At the edges of the commands. */
export const cli: readonly SmallFault[] = [
  {
    name: 'etags-of-a-file-ignored',
    breaks: AS_THEY_WERE,
    file: CHANGE_ORDERS,
    text: 'found !== undefined && orderEtag(found) === etag',
    fault: 'found !== undefined && orderEtag(found) !== undefined',
    tests: ['process/commands'],
  },
  {
    name: 'changed-orders-of-a-file',
    breaks: AS_THEY_WERE,
    file: CHANGE_ORDERS,
    text: '{ ...commandOf(id), ifRevision }',
    fault: "{ ...commandOf(id), ifRevision: etag === '' ? ifRevision : undefined }",
    tests: ['process/commands'],
  },
  {
    name: 'orders-of-the-first-thousand',
    breaks: AS_THEY_WERE,
    file: CHANGE_ORDERS,
    text: 'from < selection.length; from += most',
    fault: 'from < Math.min(selection.length, most); from += most',
    tests: ['process/commands'],
  },
  {
    name: 'ships-before-a-millisecond-later',
    breaks: '--ships-before selects orders with a shipDate before this time.',
    file: CHANGE_ORDERS,
    text: '{ petId, shipDateBefore, statuses',
    fault: '{ petId, shipDateBefore: shipDateBefore && shipDateBefore + 1, statuses',
    tests: ['process/commands'],
  },
  {
    name: 'expiry-at-local-midnight',
    breaks: '--expires is midnight UTC at the start of the date.',
    file: 'src/service/settings/parsers.ts',
    text: 'return parseTimestamp(/^',
    fault:
      'if (/^\\d{4}-(?:0\\d|1[0-2])-\\d{2}$/.test(text)) return new Date(text.replaceAll("-", "/")).getTime();\n  return parseTimestamp(/^',
    tests: ['process/commands'],
  },
  {
    name: 'numbers-of-the-locale',
    breaks: 'Messages and tables are the same in every locale.',
    file: TERMINAL,
    text: "count.toLocaleString('en-US')",
    fault: 'count.toLocaleString()',
    tests: ['process/commands'],
  },
  {
    name: 'overlap-of-a-day-at-least',
    breaks: 'The secret before stays valid for the time of --overlap.',
    file: KEYS,
    text: 'now + overlapMs',
    fault: 'now + Math.max(overlapMs, 86_400_000)',
    tests: ['process/commands'],
  },
  {
    name: 'list-says-there-are-more',
    breaks: 'list reports whether there are further orders.',
    file: 'src/cli/orders/list.ts',
    text: 'const next = found[most];',
    fault: 'const next = found[most] ?? found[most - 1];',
    tests: ['cli/commands'],
  },
  {
    name: 'audit-of-the-oldest',
    breaks: 'audit has the latest records, 100 by default.',
    file: 'src/cli/database/audit.ts',
    text: "'number of latest records to show', '100'",
    fault: "'number of latest records to show', '10'",
    tests: ['process/audit'],
  },
  {
    name: 'last-ids-taken',
    breaks: 'Ids that leave few for new orders are imported only with a flag.',
    file: CHECK_FILE,
    text: 'if (left >= FEW_IDS) return undefined;',
    fault: 'if (left >= FEW_IDS / 1_000n) return undefined;',
    tests: ['process/import.test'],
  },
  {
    name: 'one-id-too-few',
    breaks: 'An import that would exhaust the ids places nothing.',
    file: CHECK_FILE,
    text: 'if (BigInt(check.withoutId) <= last - highest) return;',
    fault: 'if (BigInt(check.withoutId) < last - highest) return;',
    tests: ['process/import.test'],
  },
  {
    name: 'cursor-on-each-line',
    breaks: 'The last line of a revision has the cursor of the position after it.',
    file: 'src/cli/orders/changes.ts',
    text: 'if (!isLast) return',
    fault: 'if (!isLast && index > 0) return',
    tests: ['process/changes'],
  },
  {
    name: 'verified-without-the-end',
    breaks: '--verify ends with 1 if the last page does not end at the position of the store.',
    file: 'src/cli/orders/changes.ts',
    text: 'const isEnd = isMore || isSamePosition(position, now);',
    fault:
      'const isEnd = isMore || position.revision <= now.revision || isSamePosition(position, now);',
    tests: ['process/changes'],
  },
  {
    name: 'listen-forwards-anywhere',
    breaks: 'webhooks listen forwards to a program on this machine.',
    file: 'src/cli/webhooks/listen.ts',
    text: "'127.0.0.0/8,::1,http'",
    fault: "'127.0.0.0/8,::1,192.168.0.0/16,http'",
    tests: ['process/webhooks'],
  },
  {
    name: 'thousand-changes-or-more',
    breaks: 'webhooks list counts up to 1,000 changes.',
    file: 'src/cli/webhooks/webhooks.ts',
    text: 'count === MAX_LAG ?',
    fault: 'count > MAX_LAG ?',
    tests: ['cli/webhooks'],
  },
  {
    name: 'twenty-names-in-the-audit',
    breaks: 'The audit names up to 20 orders of a command, and counts more.',
    file: CHANGE_ORDERS,
    text: 'ids.length > 20 ?',
    fault: 'ids.length > 21 ?',
    tests: ['cli/commands'],
  },
  {
    name: 'damaged-store-is-success',
    breaks: 'check ends with 1 if there are problems.',
    file: 'src/cli/database/check.ts',
    text: 'if (problems.length > 0) {\n    throw',
    fault: 'if (problems.length > 1) {\n    throw',
    tests: ['process/restore'],
  },
];
