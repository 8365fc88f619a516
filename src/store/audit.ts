import { readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import type { Position } from '../../protocol/history.ts';
import { cut, printable } from '../domain/text.ts';

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

export interface AuditRecord extends Action {
  readonly id: bigint;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The command of the records by which an operator has acknowledged that changes were lost. */
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
/** Of the name of a user, which can be a variable. */
const MAX_USER = 100;

/** Returns the audit record of a command. @param what without secrets */
export function actionOf(command: string, what: string): Action {
  const line = printable(what);
  const text = line.length > MAX_LENGTH ? `${cut(line, MAX_LENGTH - 1)}…` : line;
  return { command, user: printable(userName()), host: printable(hostname()), what: text };
}

/** Returns the audit record of an act of a key manager: its API key is the user. */
export function actionOfKey(id: string, command: string, what: string): Action {
  return { ...actionOf(command, what), user: id };
}

/**
 * The user of the operating system; with sudo, also the user who ran it, whose name is a variable that anyone can set: so beside it the user who has
 * logged in, which the kernel knows.
 */
function userName(): string {
  const { SUDO_USER: before } = process.env;
  const now = currentUser();
  if (before === undefined || before === now) return now;
  const login = loginId();
  return `${cut(before, MAX_USER)} as ${now}${login === undefined ? '' : ` (login ${login})`}`;
}

/** Returns the id of the user that has logged in, on Linux; undefined for services, and in most containers. */
function loginId(): string | undefined {
  try {
    const id = readFileSync('/proc/self/loginuid', 'latin1');
    return id === NO_LOGIN ? undefined : id;
  } catch {
    return undefined;
  }
}

/** -1 as an unsigned number of 32 bits. */
const NO_LOGIN = '4294967295';

function currentUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
