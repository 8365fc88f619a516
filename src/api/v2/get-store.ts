import { positionText } from '../../../protocol/history.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { operation } from '../operation.ts';
import { recordReply } from './replies.ts';

/** GET /store: what the store is, the time of the service, and how many orders have each status, from counters. */
export const getStore = operation('getStore', async ({ key }, { store, facts }) => {
  const { orders: counts, revision, head } = await store.status();
  const { name, canLoseChanges } = facts;
  return recordReply({
    ...{ name, environment: key.environment, time: formatTimestamp(Date.now()) },
    ...{ counts, canLoseChanges, revision, head: head! },
    changesAfter: positionText({ revision, head: head! }),
  });
});
