import type { Logger } from 'pino';
import { MAX_ADMIN_CONNECTIONS, MAX_CONNECTIONS } from '../limits.ts';

/** File descriptors reserved for the process: database, log, PostgreSQL connections, Node.js internals. */
const OWN_FILES = 64;
/** Minimum number of connections, however low the system limit is. */
const FEWEST = 16;

/**
 * Returns the maximum connections of the public listener, leaving file descriptors for the admin listener and
 * the database. Logs a warning if the system limit allows fewer than MAX_CONNECTIONS.
 */
export function connectionLimit(logger: Logger, openFiles = openFilesLimit()): number {
  const connections = connectionsWithin(openFiles);
  if (connections === MAX_CONNECTIONS) return connections;
  logger.warn(
    { openFiles, connections },
    `the open file limit allows ${connections} connections; raise it (LimitNOFILE, ulimit -n) to ` +
      `${FILES_NEEDED} for all ${MAX_CONNECTIONS}`,
  );
  return connections;
}

/** Open files that all connections need. */
export const FILES_NEEDED = MAX_CONNECTIONS + MAX_ADMIN_CONNECTIONS + OWN_FILES;

/** Returns how many connections a limit of open files allows. */
export function connectionsWithin(openFiles: number): number {
  const missing = Math.max(FILES_NEEDED - openFiles, 0);
  return Math.max(MAX_CONNECTIONS - missing, FEWEST);
}

/** Read once, since a report takes some 10 ms. */
let openFiles: number | undefined;

/**
 * Returns the limit of open files at startup; Infinity if there is none or it is unknown. Node.js raises the soft limit to
 * the hard limit at startup.
 */
export function openFilesLimit(): number {
  openFiles ??= readOpenFilesLimit();
  return openFiles;
}

function readOpenFilesLimit(): number {
  if (process.report === undefined) return Number.POSITIVE_INFINITY;
  // Without it, the report resolves the host names of peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { soft: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
