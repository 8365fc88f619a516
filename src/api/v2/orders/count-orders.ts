import { toJson } from '../../../../protocol/exact-json.ts';
import { storeEtags } from '../../../records/etags.ts';
import { operation } from '../../operation.ts';
import { pageReply } from '../replies.ts';
import { filterOf } from './filters.ts';

/** GET /store/counts: how many orders match all filters, by status. */
export const countOrders = operation(
  'countOrders',
  async (call, { store }) => {
    const { orders, isExact, position } = await store.count(filterOf(call.parameters));
    return pageReply(call, storeEtags(position), () =>
      toJson({ counts: orders, exact: isExact, ...position }),
    );
  },
  { reads: 'count' },
);
