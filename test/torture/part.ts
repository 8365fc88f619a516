/** A part of the torture suite, which is run by its name. */
export interface Part {
  readonly name: string;
  /** How long it runs unless another time is given. */
  readonly minutes: number;
  readonly run: (options: PartOptions) => Promise<Result>;
}

export interface PartOptions {
  /** An empty folder, removed afterwards. */
  readonly folder: string;
  readonly seed: number;
  readonly minutes: number;
  /** Runs one scenario only. */
  readonly only: string | undefined;
  readonly report: (line: string) => void;
}

/** What a run has shown. A run that saw too little is undecided. */
export type Result =
  | { readonly outcome: 'passed'; readonly figures: string }
  | { readonly outcome: 'failed'; readonly findings: readonly string[]; readonly figures: string }
  | { readonly outcome: 'undecided' | 'skipped'; readonly reason: string };
