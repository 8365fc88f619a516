/** A fault of one place, which the tests of its area must find. */
export interface SmallFault {
  /** In lower case, with hyphens. */
  readonly name: string;
  /** The sentence of the contract or of a guide that it breaks, shortened. */
  readonly breaks: string;
  /** Where it is planted, relative to the project. */
  readonly file: string;
  /** The text of the file that is replaced; it occurs there once. */
  readonly text: string;
  /** What it is replaced by. */
  readonly fault: string;
  /** Words for `npm test -- WORD…`, which choose the test files that find it. */
  readonly tests: readonly string[];
}
