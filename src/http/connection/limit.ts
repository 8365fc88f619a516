import type { Logger } from 'pino';
import { MAX_CONNECTIONS, MAX_OPERATIONS_CONNECTIONS } from '../limits.ts';

/** Files that the program has open itself: its database and log, connections to PostgreSQL, what Node.js needs. */
const OWN_FILES = 64;
/** However low the system's limit is. */
const FEWEST = 16;

/**
 * How many connections the public listener takes, so that enough open files are left for the operations listener and the
 * database. Warns where the system's limit allows fewer than MAX_CONNECTIONS.
 */
export function connectionLimit(logger: Logger, openFiles = openFilesLimit()): number {
  const left = openFiles - OWN_FILES - MAX_OPERATIONS_CONNECTIONS;
  if (left >= MAX_CONNECTIONS) return MAX_CONNECTIONS;
  const connections = Math.max(left, FEWEST);
  logger.warn(
    { openFiles, connections },
    `the open file limit allows ${connections} connections; raise it (LimitNOFILE, ulimit -n) to ` +
      `${MAX_CONNECTIONS + openFiles - left} for all ${MAX_CONNECTIONS}`,
  );
  return connections;
}

/** Node.js has raised the soft limit to the hard one. Infinity where there is none, or it is not known. */
function openFilesLimit(): number {
  if (process.report === undefined) return Number.POSITIVE_INFINITY;
  // Otherwise the report looks up names of peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as unknown as {
    userLimits?: { open_files?: { soft: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
