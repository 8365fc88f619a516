import type { Moment } from '../../listing/listing.ts';
import { type CodedEtags, codedEtags } from '../conditional.ts';

export function listEtags({ storeId, revision, mark }: Moment): CodedEtags {
  return codedEtags(`${storeId}-${revision}-${BigInt.asUintN(64, mark).toString(16)}`);
}
