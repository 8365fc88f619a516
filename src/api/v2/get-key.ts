import { toJson } from '../../../protocol/exact-json.ts';
import { IMPLIED_SCOPES } from '../../domain/api-key.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { jsonReply, operation } from '../operation.ts';
import { NOT_STORED } from './replies.ts';

/** GET /key: the API key of the request. */
export const getKey = operation('getKey', ({ key }) => {
  const { id, name, environment, scopes, cancelsPerHour, placesPerHour, expiresAt } = key;
  const record = {
    ...{ id, name, environment },
    scopes: scopes ?? IMPLIED_SCOPES,
    ...{ cancelsPerHour, placesPerHour },
    expiresAt: expiresAt === undefined ? undefined : formatTimestamp(expiresAt),
  };
  return jsonReply(200, NOT_STORED, toJson(record));
});
