import { toJson } from '../../../protocol/exact-json.ts';
import { positionText } from '../../../protocol/history.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { jsonReply, operation } from '../operation.ts';
import { NOT_STORED } from './replies.ts';

/** GET /store: what the store is, the time of the service, and how many orders have each status, from counters. */
export const getStore = operation('getStore', async ({ key }, { store, facts }) => {
  const { orders: counts, revision, head } = await store.status();
  const { name, canLoseChanges } = facts;
  return jsonReply(
    200,
    NOT_STORED,
    toJson({
      ...{ name, environment: key.environment, time: formatTimestamp(Date.now()) },
      ...{ counts, canLoseChanges, revision, head: head! },
      changesAfter: positionText({ revision, head: head! }),
    }),
  );
});
