/** A pet as stored. A field without a value is undefined, never null. */
export interface Pet {
  /** int64 */
  readonly id: bigint;
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
}

/** Formats a pet as the contract's Pet record: fields without a value are left out, int64 as a plain JSON integer. */
export function petJson(pet: Pet): string {
  let json = `{"id":${pet.id}`;
  if (pet.name !== undefined) json += `,"name":${JSON.stringify(pet.name)}`;
  if (pet.tag !== undefined) json += `,"tag":${JSON.stringify(pet.tag)}`;
  return `${json}}`;
}
