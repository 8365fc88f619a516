import type { Contract } from '../../contract/contract.ts';
import type { RouteHandler } from '../../http/exchange.ts';
import { send } from '../../http/responses.ts';
import { toJson } from '../../json/to-json.ts';
import { IMPLIED_SCOPES } from '../../keys/scopes.ts';
import { formatTimestamp } from '../../orders/timestamp.ts';
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
