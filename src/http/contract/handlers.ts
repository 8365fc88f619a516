import type { Parameter, RequestBody } from '../../../protocol/openapi.ts';
import { isErrorCode } from '../error-records.ts';
import { MAX_JSON_BYTES } from '../limits.ts';
import type { Exchange, RouteHandler } from '../request/exchange.ts';
import { invalid, refuse, refuseMediaType, sendReply } from '../request/reply.ts';
import { isPlainJson, readJsonBody } from './json-body.ts';
import type { ContractValidation, Validated } from './validation.ts';

/** The schemas of an operation's input: parameters of path and query, and the body. */
export interface Accepted {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody | undefined;
}

/** The input of an operation, valid by its contract. */
export interface OperationInput<Parameters, Body> {
  /** Of path and query, by name. */
  readonly parameters: Parameters;
  readonly body: Body;
}

/**
 * Returns a handler whose input is validated against the contract of its operation. Invalid requests get 415; the error of a
 * parameter that has its own code; or 400 with an Error record that lists the problems of parameters and body, up to
 * MAX_PROBLEMS.
 */
export function validated<Parameters, Body = undefined>(
  validation: ContractValidation,
  { parameters = [], requestBody }: Accepted,
  handle: (exchange: Exchange, input: OperationInput<Parameters, Body>) => void | Promise<void>,
): RouteHandler {
  const readParameters = validation.parameters<Parameters>(parameters);
  for (const { 'x-error-code': code } of parameters) {
    if (code !== undefined && !isErrorCode(code)) throw new Error(`no error has the code ${code}`);
  }
  const codes = new Map(parameters.map((each) => [each.name, each['x-error-code']]));
  const schema = requestBody?.content['application/json']?.schema;
  const mediaTypes = Object.keys(requestBody?.content ?? {});
  const validateBody = schema === undefined ? undefined : validation.body<Body>(schema);
  return {
    maxBodyBytes:
      validateBody === undefined ? undefined : (requestBody!['x-max-bytes'] ?? MAX_JSON_BYTES),
    handle: (exchange) => {
      const isEmpty = requestBody?.required !== true && exchange.body.length === 0;
      const isExpected = validateBody !== undefined && !isEmpty;
      if (isExpected && !isPlainJson(exchange.request, mediaTypes)) {
        sendReply(exchange, refuseMediaType(exchange.request.method, mediaTypes));
        return;
      }
      const found = readParameters(exchange.parameters, exchange.query);
      const body: Validated<Body> =
        validateBody === undefined || isEmpty
          ? { value: undefined as Body }
          : readJsonBody(exchange.body, validateBody);
      if (found.problems === undefined && body.problems === undefined) {
        return handle(exchange, { parameters: found.value, body: body.value });
      }
      const own = found.problems?.map(({ parameter }) => codes.get(parameter!)).find(isErrorCode);
      if (own !== undefined) {
        sendReply(exchange, refuse(own));
        return;
      }
      const code = found.problems === undefined ? 'body_invalid' : 'parameter_invalid';
      const problems = [...(found.problems ?? []), ...(body.problems ?? [])];
      sendReply(exchange, invalid(code, problems));
    },
  };
}
