import type { ApiKey } from '../../domain/api-key.ts';
import { parseInt64 } from '../../domain/order.ts';
import type { Pet } from '../../domain/pet.ts';
import { inTime } from '../../http/request/deadline.ts';
import type { Exchange, Handle } from '../../http/request/exchange.ts';
import { send, sendError } from '../../http/request/responses.ts';

/** Dependencies of the pet lookup. */
export interface PetLookup {
  readonly findPet: (id: bigint) => Promise<Pet | undefined>;
  /** Sunset date of the lookup, in milliseconds since the epoch. */
  readonly sunsetAt: number;
  /** Called for every call of this deprecated operation, with its API key. */
  readonly onCall: (key: ApiKey) => void;
}

/** GET /pets/{petId}: deprecated; 410 after its sunset date. */
export function getPet({ findPet, sunsetAt, onCall }: PetLookup): Handle {
  return async (exchange: Exchange) => {
    onCall(exchange.apiKey!);
    if (Date.now() >= sunsetAt) {
      sendError(exchange, 'pet_lookup_gone');
      return;
    }
    const id = parseInt64(exchange.parameters.petId!);
    if (id === undefined) {
      sendError(exchange, 'invalid_pet_id');
      return;
    }
    const pet = await inTime(exchange, () => findPet(id));
    if (pet === undefined) sendError(exchange, 'pet_not_found');
    else send(exchange, 200, ['content-type', 'application/json'], Buffer.from(petJson(pet)));
  };
}

/** Formats a pet as the contract's Pet record: fields without a value are left out, int64 as a plain JSON integer. */
function petJson(pet: Pet): string {
  let json = `{"id":${pet.id}`;
  if (pet.name !== undefined) json += `,"name":${JSON.stringify(pet.name)}`;
  if (pet.tag !== undefined) json += `,"tag":${JSON.stringify(pet.tag)}`;
  return `${json}}`;
}
