import type { Random } from '../random.ts';

/** What an attack is made on. */
export interface Place {
  /** An empty folder. */
  readonly folder: string;
  readonly random: Random;
}

/** What was measured, and whether it is within the limit that docs/security.md names. */
export interface Measured {
  readonly figures: string;
  readonly isKept: boolean;
}

/** An attack, and what must hold during and after it. */
export interface Attack {
  readonly name: string;
  readonly mustHold: string;
  readonly make: (place: Place) => Promise<Measured>;
}
