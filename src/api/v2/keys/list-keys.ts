import { toJson } from '../../../../protocol/exact-json.ts';
import { keyStatus } from '../../../domain/api-key.ts';
import { jsonReply, operation } from '../../operation.ts';
import { listPage } from '../list-page.ts';
import { NOT_STORED } from '../replies.ts';
import { managedKeys } from './managed-key.ts';

/** GET /keys: a page of API keys, the oldest first. */
export const listKeys = operation(
  'listKeys',
  async ({ parameters }, { store }) => {
    const { state } = parameters;
    const all = await store.keys();
    const now = Date.now();
    const counts = { valid: 0, expired: 0, revoked: 0 };
    for (const key of all) counts[keyStatus(key, now)] += 1;
    const asked = state === undefined ? all : all.filter((key) => keyStatus(key, now) === state);
    const { page, next } = listPage(`keys ${state ?? ''}`, asked, parameters);
    const keys = await managedKeys(store, page);
    return jsonReply(200, NOT_STORED, toJson({ keys, counts, next }));
  },
  { reads: 'page' },
);
