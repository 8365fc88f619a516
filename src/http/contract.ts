import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { parseDocument } from 'yaml';
import type { Config } from '../config.ts';
import { answer, answerEmpty } from './answers.ts';
import { hasCurrent } from './conditional.ts';
import { refuseOtherMethods } from './methods.ts';

const SOURCE = new URL('../../contract/v1.yaml', import.meta.url);

/** Where the contract is served, beside its .json form. */
export const CONTRACT_PATH = '/openapi/v1.yaml';

/** Serves the contract, its servers and dates those of this configuration, to anybody. */
export function addContract(server: FastifyInstance, config: Config): void {
  const document = parseDocument(readFileSync(SOURCE, 'utf8'));
  document.set('servers', document.createNode(servers(config)));
  const sunset = new Date(config.petLookup.sunsetAt).toISOString();
  document.setIn(['paths', '/pets/{petId}', 'get', 'x-sunset'], sunset);
  serve(server, CONTRACT_PATH, 'application/yaml', document.toString());
  serve(server, '/openapi/v1.json', 'application/json', JSON.stringify(document.toJS()));
}

/** With one address only, it is this service's own, and ENVIRONMENT says what it is. */
function servers({ environment, baseUrl, stagingBaseUrl }: Config) {
  if (environment === 'staging' && stagingBaseUrl === undefined) {
    return [{ url: baseUrl, description: 'Staging' }];
  }
  const production = { url: baseUrl, description: 'Production' };
  if (stagingBaseUrl === undefined) return [production];
  return [production, { url: stagingBaseUrl, description: 'Staging' }];
}

function serve(server: FastifyInstance, path: string, type: string, text: string): void {
  const body = Buffer.from(text);
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const config = { public: true } as const;
  server.get(path, { config }, (request, reply) => {
    const headers = { etag, 'cache-control': 'no-cache' };
    if (hasCurrent(request.headers['if-none-match'], etag)) answerEmpty(reply, 304, headers);
    else answer(reply, 200, { ...headers, 'content-type': type }, body);
  });
  refuseOtherMethods(server, path, ['GET', 'HEAD'], config);
}
