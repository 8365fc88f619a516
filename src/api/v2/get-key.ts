import { toJson } from '../../../protocol/exact-json.ts';
import { IMPLIED_SCOPES } from '../../domain/scopes.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import type { Contract } from '../../http/contract/contract.ts';
import type { RouteHandler } from '../../http/request/exchange.ts';
import { send } from '../../http/request/responses.ts';
import { JSON_TYPE, NOT_STORED } from './responses.ts';

/** GET /key: the API key of the request, and the time of the service. */
export function getKey(contract: Contract): RouteHandler {
  return contract.validated('getKey', async (exchange) => {
    const { id, name, environment, scopes, cancelsPerHour, expiresAt } = exchange.apiKey!;
    const key = {
      ...{ id, name, environment },
      scopes: scopes ?? IMPLIED_SCOPES,
      cancelsPerHour,
      expiresAt: expiresAt === undefined ? undefined : formatTimestamp(expiresAt),
      now: formatTimestamp(Date.now()),
    };
    send(exchange, 200, [...NOT_STORED, ...JSON_TYPE], Buffer.from(toJson(key)));
  });
}
