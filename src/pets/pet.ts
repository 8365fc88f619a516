/** A pet as the store keeps it. A field without a value is undefined, never null. */
export interface Pet {
  /** int64 */
  readonly id: bigint;
  readonly name?: string | undefined;
  readonly tag?: string | undefined;
}

/** The pet as the contract's Pet record: fields without a value left out, int64 as a JSON integer. */
export function petJson(pet: Pet): string {
  let json = `{"id":${pet.id}`;
  if (pet.name !== undefined) json += `,"name":${JSON.stringify(pet.name)}`;
  if (pet.tag !== undefined) json += `,"tag":${JSON.stringify(pet.tag)}`;
  return `${json}}`;
}
