/** A migration that would run. */
export interface MigrationStep {
  /** Name of its file. */
  readonly name: string;
  /** What it does and locks, one line each. */
  readonly effects: readonly string[];
}

export interface MigrationSteps {
  readonly steps: readonly MigrationStep[];
  /** Sessions that hold a lock that the migrations need, one line each. */
  readonly heldBy: readonly string[];
}
