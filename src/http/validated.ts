import type { ContractValidation, OperationObject } from './contract-validation.ts';
import type { Exchange, Route } from './exchange.ts';
import { isJson, readJsonBody } from './json-body.ts';
import { sendError, sendProblems } from './responses.ts';

/** The input of an operation, valid by its contract. */
export interface Input<Parameters, Body> {
  /** Of path and query, by name. */
  readonly parameters: Parameters;
  readonly body: Body;
}

/**
 * A handler whose input was validated against the contract of its operation. Requests that are not valid are answered
 * 400 or 415 with an Error record that names every problem.
 */
export function validated<Parameters, Body = undefined>(
  validation: ContractValidation,
  { parameters = [], requestBody }: OperationObject,
  handle: (exchange: Exchange, input: Input<Parameters, Body>) => void | Promise<void>,
): Pick<Route, 'handle' | 'takesBody'> {
  const readParameters = validation.parameters<Parameters>(parameters);
  const schema = requestBody?.content['application/json']?.schema;
  const validateBody = schema === undefined ? undefined : validation.body<Body>(schema);
  return {
    takesBody: validateBody !== undefined,
    handle: (exchange) => {
      const found = readParameters(exchange.parameters, exchange.query);
      if (found.problems !== undefined) {
        sendProblems(exchange, 'parameter_invalid', found.problems);
        return;
      }
      if (validateBody === undefined) {
        return handle(exchange, { parameters: found.value, body: undefined as Body });
      }
      if (!isJson(exchange.request.headers['content-type'])) {
        sendError(exchange, 'unsupported_media_type');
        return;
      }
      const body = readJsonBody(exchange.body, validateBody);
      if (body.problems !== undefined) sendProblems(exchange, 'body_invalid', body.problems);
      else return handle(exchange, { parameters: found.value, body: body.value });
    },
  };
}
