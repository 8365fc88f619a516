import { hostname, userInfo } from 'node:os';
import type { Position } from '../../protocol/history.ts';
import { cut } from '../domain/text.ts';

/** An operator's command. */
export interface Action {
  /** The command, such as "keys revoke". */
  readonly command: string;
  /** The user of the operating system, and the machine. */
  readonly user: string;
  readonly host: string;
  /** Description of the action; without secrets. */
  readonly what: string;
}

/** An action as recorded. */
export interface AuditRecord extends Action {
  readonly id: bigint;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Commands of the records of changes that were lost, and of their acknowledgement. */
export const LOST = 'lost changes';
export const ACKNOWLEDGED = 'audit --acknowledge';

/** What a process has acknowledged last: a position in the history of a store. */
export interface Acknowledgement {
  /** See StoreStatus. */
  readonly identity: string;
  readonly position: Position;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns user and host for display: "anna@shop-1". */
export function operatorOf({ user, host }: Action): string {
  return `${user}@${host}`;
}

/** Maximum length of a record, in characters. */
const MAX_LENGTH = 500;

/** Returns the audit record of a command. @param what without secrets */
export function actionOf(command: string, what: string): Action {
  const text = what.length > MAX_LENGTH ? `${cut(what, MAX_LENGTH - 1)}…` : what;
  return { command, user: userName(), host: hostname(), what: text };
}

/** The user of the operating system; with sudo, also the user who ran it. */
function userName(): string {
  const { SUDO_USER: before } = process.env;
  const now = currentUser();
  return before === undefined || before === now ? now : `${before} as ${now}`;
}

function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
