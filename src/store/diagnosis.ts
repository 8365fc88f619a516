/** The result of one check. */
export interface Finding {
  /** The subject of the check; stable, for scripts. */
  readonly subject: string;
  /** "problem": the service does not work, or can lose data; "warning": the service works, but may fail soon. */
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** What the operator should do; absent if there is nothing to do. */
  readonly advice?: string;
}

export function ok(subject: string, found: string): Finding {
  return { subject, level: 'ok', found };
}

export function warning(subject: string, found: string, advice: string): Finding {
  return { subject, level: 'warning', found, advice };
}

export function problem(subject: string, found: string, advice: string): Finding {
  return { subject, level: 'problem', found, advice };
}

/** Number of measurements of a cost. */
const ROUNDS = 20;

export async function medianMs(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const begin = performance.now();
    await work();
    times.push(performance.now() - begin);
  }
  return times.sort((one, other) => one - other)[ROUNDS / 2]!;
}

export function inMs(ms: number): string {
  return `${ms < 10 ? ms.toFixed(2) : Math.round(ms)} ms`;
}

export interface MigrationStep {
  /** Name of its file. */
  readonly name: string;
  /** Its effects and locks, one line each. */
  readonly effects: readonly string[];
}

export interface MigrationSteps {
  readonly steps: readonly MigrationStep[];
  /** Sessions that hold a lock that the migrations need, one line each. */
  readonly heldBy: readonly string[];
}
