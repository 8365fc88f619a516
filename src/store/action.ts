import { hostname, userInfo } from 'node:os';
import type { Action } from './audit.ts';

/** Characters of a record. */
const MAX_LENGTH = 500;

/** Returns the record of what a command does. @param what without secrets */
export function actionOf(command: string, what: string): Action {
  const text = what.length > MAX_LENGTH ? `${what.slice(0, MAX_LENGTH - 1)}…` : what;
  return { command, user: userName(), host: hostname(), what: text };
}

/** The user of the operating system; also the one who has become it by sudo. */
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
