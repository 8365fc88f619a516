/** A part of the torture suite, which is run by its name. */
export interface Part {
  readonly name: string;
  /** How long it runs unless another time is given. */
  readonly minutes: number;
  /** The names of what it tries. */
  readonly scenarios: readonly string[];
  readonly run: (options: PartOptions) => Promise<Result>;
}

export interface PartOptions {
  /** An empty folder, removed afterwards. */
  readonly folder: string;
  readonly seed: number;
  readonly minutes: number;
  /** Runs only the scenarios whose name contains this. */
  readonly only: string | undefined;
  /** Has only the faults whose name contains this, of a part that has faults. */
  readonly fault: string | undefined;
  readonly report: (line: string) => void;
}

/** What a run has shown. A run that saw too little is undecided. */
export type Result =
  | { readonly outcome: 'passed'; readonly figures: string }
  | { readonly outcome: 'failed'; readonly findings: readonly string[]; readonly figures: string }
  | { readonly outcome: 'undecided' | 'skipped'; readonly reason: string };

/** Whether a scenario is to be run. */
export function isChosen(name: string, only: string | undefined): boolean {
  return only === undefined || name.includes(only);
}
