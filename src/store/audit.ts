/** What an operator does by a command. */
export interface Action {
  /** The command, such as "keys revoke". */
  readonly command: string;
  /** The user of the operating system, and the machine. */
  readonly user: string;
  readonly host: string;
  /** What it does, for people; without secrets. */
  readonly what: string;
}

/** An action as recorded. */
export interface AuditRecord extends Action {
  readonly id: bigint;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Returns user and machine for people: "anna@shop-1". */
export function operatorOf({ user, host }: Action): string {
  return `${user}@${host}`;
}
