import { listCursor, parseListCursor } from '../../../records/page-cursors.ts';
import { operation } from '../../operation.ts';
import { afterCursor, DEFAULT_LIMIT, recordReply } from '../replies.ts';
import { managedKeys } from './managed-key.ts';

/** GET /keys: a page of API keys, the oldest first. */
export const listKeys = operation(
  'listKeys',
  async ({ parameters }, { store }) => {
    const { state, limit = DEFAULT_LIMIT, cursor } = parameters;
    const list = `keys ${state ?? ''}`;
    const after = afterCursor(cursor, (text) => parseListCursor(list, text));
    const query = { state, after, limit: Number(limit), now: Date.now() };
    const { keys, hasMore, counts } = await store.keyPage(query);
    const records = await managedKeys(store, keys);
    const next = hasMore ? listCursor(list, keys.at(-1)!) : undefined;
    return recordReply({ keys: records, counts, next });
  },
  { reads: 'page' },
);
