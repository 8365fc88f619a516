/** A small fault in the source, at the edge of a rule, which the ordinary tests must find. */
export interface SmallFault {
  readonly name: string;
  /** The sentence of the contract or of a guide that it breaks, shortened. */
  readonly breaks: string;
  /** The file that it is planted in, from the root of the project. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly text: string;
  /** Replaces `text`. */
  readonly fault: string;
  /** Words for `npm test -- WORD…` that select the files that must find it, and few others. */
  readonly tests: readonly string[];
}
