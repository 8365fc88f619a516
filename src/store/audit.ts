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
