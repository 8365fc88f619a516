import { toJson } from '../protocol/exact-json.ts';
import type { OpenApi, Operation, Parameter } from '../protocol/openapi.ts';
import { resolved } from '../protocol/openapi.ts';
import { bodyToEdit } from './examples.ts';
import type { Documented } from './page.ts';

/** The schema of the file: https://schema.postman.com/collection/json/v2.1.0/draft-07/collection.json */
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/**
 * Returns a collection for Postman and what reads its format, as JSON: a folder per version, a request per operation. The URL of the service and
 * the key are variables, and ids are empty, so that a request which is sent by accident changes no order.
 */
export function postmanCollection(versions: readonly Documented[], rootUrl: string): string {
  return toJson(
    {
      info: { name: 'Store Orders', schema: SCHEMA },
      auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
      variable: [
        { key: 'root', value: rootUrl },
        { key: 'key', value: '' },
      ],
      item: versions.map(({ version, document }) => ({
        name: `Version ${version.slice(1)}`,
        item: Object.entries(document.paths).flatMap(([path, operations]) =>
          Object.entries(operations).map(([method, operation]) =>
            requestOf(document, operation, { version, method, path }),
          ),
        ),
      })),
    },
    2,
  );
}

function requestOf(
  document: OpenApi,
  operation: Operation,
  {
    version,
    method,
    path,
  }: { readonly version: string; readonly method: string; readonly path: string },
) {
  const parameters = (operation.parameters ?? []).map((each) =>
    resolved<Parameter>(document, each),
  );
  const partOf = (where: string) => parameters.filter((each) => each.in === where);
  const body = bodyToEdit(operation);
  const segments = `${version}${path}`.replaceAll(/\{(\w+)\}/g, ':$1').split('/');
  const query = partOf('query').map((each) => ({
    ...described(each),
    disabled: each.required !== true,
  }));
  const headers = partOf('header').map((each) => ({
    ...described(each),
    disabled: each.required !== true,
  }));
  const type = { key: 'Content-Type', value: 'application/json' };
  return {
    name: operation.summary,
    request: {
      method: method.toUpperCase(),
      description: operation.description ?? '',
      header: body === '' ? headers : [...headers, type],
      url: {
        raw: `{{root}}/${segments.join('/')}`,
        host: ['{{root}}'],
        path: segments,
        query,
        variable: partOf('path').map(({ name, description = '' }) => ({
          key: name,
          value: '',
          description,
        })),
      },
      ...(body !== '' && { body: { mode: 'raw', raw: body } }),
    },
  };
}

/** A fresh key for each request: Postman replaces {{$guid}} when it sends. */
function described({ name, example, description = '' }: Parameter) {
  const value = name === 'Idempotency-Key' ? '{{$guid}}' : String(example ?? '');
  return { key: name, value, description };
}
