import type { Json } from '../../../protocol/exact-json.ts';
import type { Pet as PetRecord } from '../../../protocol/generated/records.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import { type Pet, parseInt64 } from '../../domain/order.ts';
import type { HeaderList } from '../../http/error-records.ts';
import { type Exchange, type Handle, inTime } from '../../http/request/exchange.ts';
import { type ErrorReply, type Reply, refuse, sendReply } from '../../http/request/reply.ts';
import { jsonReply } from '../operation.ts';

interface PetLookup {
  readonly findPet: (id: bigint) => Promise<Pet | undefined>;
  /** Sunset date of the lookup, in milliseconds since the epoch. */
  readonly sunsetAt: number;
  /** Called for every call of this deprecated operation, with its API key. */
  readonly onCall: (key: ApiKey) => void;
}

/** GET /pets/{petId}: deprecated; 410 after its sunset date. */
export function getPet(lookup: PetLookup): Handle {
  return async (exchange) =>
    sendReply(exchange, await inTime(exchange, () => found(exchange, lookup)));
}

async function found(
  exchange: Exchange,
  { findPet, sunsetAt, onCall }: PetLookup,
): Promise<Reply | ErrorReply> {
  onCall(exchange.apiKey!);
  if (Date.now() >= sunsetAt) return refuse('pet_lookup_gone');
  const id = parseInt64(exchange.parameters.petId!);
  if (id === undefined) return refuse('invalid_pet_id');
  const pet = await findPet(id);
  return pet === undefined ? refuse('pet_not_found') : jsonReply(200, [], petJson(pet));
}

/** Formats a pet as the contract's Pet record: fields without a value are left out, int64 as a plain JSON integer. */
function petJson(pet: Pet): Json<PetRecord> {
  let json = `{"id":${pet.id}`;
  if (pet.name !== undefined) json += `,"name":${JSON.stringify(pet.name)}`;
  if (pet.tag !== undefined) json += `,"tag":${JSON.stringify(pet.tag)}`;
  return `${json}}` as Json<PetRecord>;
}

/**
 * Returns the headers of a deprecated operation: Deprecation (RFC 9745), Sunset (RFC 8594), and Links to its
 * documentation. Dates are in milliseconds since the epoch.
 */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: { readonly deprecatedAt: number; readonly sunsetAt: number },
  documentation: string,
): HeaderList {
  return [
    ...['deprecation', `@${Math.floor(deprecatedAt / 1000)}`],
    ...['sunset', new Date(sunsetAt).toUTCString()],
    'link',
    `<${documentation}>; rel="deprecation"; type="application/yaml", ` +
      `<${documentation}>; rel="sunset"; type="application/yaml"`,
  ];
}
