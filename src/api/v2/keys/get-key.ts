import { toJson } from '../../../../protocol/exact-json.ts';
import { keyRecord } from '../../../records/key-json.ts';
import { jsonReply, operation } from '../../operation.ts';
import { NOT_STORED } from '../replies.ts';

/** GET /key: the API key of the request. */
export const getKey = operation('getKey', ({ key }) =>
  jsonReply(200, NOT_STORED, toJson(keyRecord(key))),
);
