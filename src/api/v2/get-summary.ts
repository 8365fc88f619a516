import { toJson } from '../../../protocol/exact-json.ts';
import { etagName } from '../../records/etags.ts';
import { operation } from '../operation.ts';
import { readReply } from './replies.ts';

/** GET /store/summary: how many orders have each status, from counters. */
export const getSummary = operation('getSummary', async (call, { store, canLoseChanges }) => {
  const { orders, revision, head } = await store.status();
  const summary = { revision, head: head!, orders, canLoseChanges };
  const state = etagName(summary);
  // The setting can change without a change of the store.
  const etag = canLoseChanges ? `"${state}-can-lose"` : `"${state}"`;
  return readReply(call, etag, () => toJson(summary));
});
