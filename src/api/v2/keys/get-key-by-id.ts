import { operation } from '../../operation.ts';
import { keyReply, namedKey } from './managed-key.ts';

/** GET /keys/{keyId} */
export const getKeyById = operation(
  'getKeyById',
  async (call, { store }) => keyReply(store, await namedKey(call, store)),
  { reads: 'page' },
);
