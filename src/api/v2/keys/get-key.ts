import { keyRecord } from '../../../records/key-json.ts';
import { operation } from '../../operation.ts';
import { recordReply } from '../replies.ts';

/** GET /key: the API key of the request. */
export const getKey = operation('getKey', ({ key }) => recordReply(keyRecord(key)));
