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
  const source = readFileSync(SOURCE, 'utf8');
  let rendered: Contract | undefined;
  // When it is first asked for: that takes as long as half of all else at the start.
  const contract = () => {
    rendered ??= render(source, config);
    return rendered;
  };
  serve(server, CONTRACT_PATH, 'application/yaml', () => contract().yaml);
  serve(server, '/openapi/v1.json', 'application/json', () => contract().json);
}

interface Document {
  readonly body: Buffer;
  readonly etag: string;
}

interface Contract {
  readonly yaml: Document;
  readonly json: Document;
}

function render(source: string, config: Config): Contract {
  const document = parseDocument(source);
  document.set('servers', document.createNode(servers(config)));
  const sunset = new Date(config.petLookup.sunsetAt).toISOString();
  document.setIn(['paths', '/pets/{petId}', 'get', 'x-sunset'], sunset);
  const json = JSON.stringify(document.toJS());
  return { yaml: documentOf(document.toString()), json: documentOf(json) };
}

function documentOf(text: string): Document {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  return { body: Buffer.from(text), etag };
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

function serve(
  server: FastifyInstance,
  path: string,
  type: string,
  document: () => Document,
): void {
  const config = { public: true } as const;
  server.get(path, { config }, (request, reply) => {
    const { body, etag } = document();
    const headers = { etag, 'cache-control': 'no-cache' };
    if (hasCurrent(request.headers['if-none-match'], etag)) answerEmpty(reply, 304, headers);
    else answer(reply, 200, { ...headers, 'content-type': type }, body);
  });
  refuseOtherMethods(server, path, ['GET', 'HEAD'], config);
}
