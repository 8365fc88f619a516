import type { Random } from '../random.ts';
import type { Node } from './node.ts';
import type { Change } from './timeline.ts';

/** A running service of several nodes on one database. */
export interface Deployment {
  readonly name: string;
  readonly nodes: readonly Node[];
  /** For other databases. */
  readonly folder: string;
  /** The database, for commands. */
  readonly database: string;
  /** The settings of its nodes, for commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Where endpoints of webhooks are reached by all nodes. */
  readonly host: string;
  readonly faults: readonly Fault[];
  /** Whether the faults of every store are left out. */
  readonly hasOwnFaultsOnly?: true;
  /** Ends all sessions of the database; absent if it has none. */
  readonly endSessions?: () => Promise<void>;
  /** Reasons why faults are left out. */
  readonly skipped: readonly string[];
  readonly end: () => Promise<void>;
}

/** Something that goes wrong, and is over when it resolves; then the service must work again without help. */
export interface Fault {
  readonly name: string;
  readonly happen: (during: During) => Promise<void>;
  /** Whether every request must be answered in time meanwhile. */
  readonly isAnswered?: boolean;
  /** Time within which webhooks must get deliveries again, by whichever node, in milliseconds; by default as long as a lease. */
  readonly deliversWithinMs?: number;
}

/** What a fault needs that replaces the history of the store. */
export interface During {
  readonly random: Random;
  /** Stops all clients, calls `replace` once their last requests have ended, and has them continue with the new history. */
  readonly replaceHistory: (replace: () => Promise<Replaced>) => Promise<void>;
  /** All nodes but one must work within 5 s, although that one does not. */
  readonly othersWork: (than: Node) => Promise<void>;
  /** Called before a clock is wrong: limits of cancels per hour, and leases, hold by the clock. */
  readonly beforeWrongClock: () => void;
}

export interface Replaced {
  /** All changes of the history before. */
  readonly changes: readonly Change[];
  /** A cursor of its end. */
  readonly cursor: string | undefined;
  /** Whether the next history must have every change that was acknowledged. */
  readonly keepsAcknowledged?: boolean;
}
