import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import type { Config } from '../config/config.ts';
import { matchesEtag } from '../http/conditional.ts';
import type { Handle } from '../http/exchange.ts';
import { send, sendEmpty } from '../http/responses.ts';
import type { Router } from '../http/router.ts';

const SOURCE = new URL('../../contract/v1.yaml', import.meta.url);

/** Path of the contract in YAML; the JSON form is at the same path with .json. */
export const CONTRACT_PATH = '/openapi/v1.yaml';

/** Adds public routes for the contract, with the servers and dates of this configuration. */
export function addContract(routes: Router, config: Config): void {
  const source = readFileSync(SOURCE, 'utf8');
  let rendered: Contract | undefined;
  // Rendered on first request: rendering takes half as long as the rest of the startup.
  const contract = () => {
    rendered ??= render(source, config);
    return rendered;
  };
  routes.addPublic(
    CONTRACT_PATH,
    documentHandler('application/yaml', () => contract().yaml),
  );
  routes.addPublic(
    '/openapi/v1.json',
    documentHandler('application/json', () => contract().json),
  );
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

/** Returns the servers of the contract. Without STAGING_BASE_URL, only this service, described by ENVIRONMENT. */
function servers({ environment, baseUrl, stagingBaseUrl }: Config) {
  if (environment === 'staging' && stagingBaseUrl === undefined) {
    return [{ url: baseUrl, description: 'Staging' }];
  }
  const production = { url: baseUrl, description: 'Production' };
  if (stagingBaseUrl === undefined) return [production];
  return [production, { url: stagingBaseUrl, description: 'Staging' }];
}

function documentHandler(type: string, document: () => Document): Handle {
  return (exchange) => {
    const { body, etag } = document();
    const headers = ['etag', etag, 'cache-control', 'no-cache'];
    const known = exchange.request.headers['if-none-match'];
    if (matchesEtag(known, etag)) sendEmpty(exchange, 304, headers);
    else send(exchange, 200, [...headers, 'content-type', type], body);
  };
}
