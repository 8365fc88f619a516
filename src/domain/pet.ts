/** A pet as stored. A field without a value is undefined, never null. */
export interface Pet {
  /** int64 */
  readonly id: bigint;
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
}
