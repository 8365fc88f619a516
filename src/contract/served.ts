import type { Config } from '../config/config.ts';
import { addFixed } from '../http/fixed-response.ts';
import type { Router } from '../http/router.ts';
import { toJson } from '../json/to-json.ts';
import type { Contract, Version } from './contract.ts';
import type { OpenApi } from './openapi.ts';

/** Returns the path of a contract in YAML; the JSON form is at the same path with .json. */
export function documentPath(version: Version): string {
  return `/openapi/${version}.yaml`;
}

/** Adds public routes for a contract, with the servers and dates of this configuration. */
export function addContractDocument(router: Router, contract: Contract, config: Config): void {
  const path = documentPath(contract.version);
  addFixed(router, {
    path,
    type: 'application/yaml',
    make: () => servedYaml(contract, config),
  });
  addFixed(router, {
    path: path.replace(/yaml$/, 'json'),
    type: 'application/json',
    make: () => toJson(servedDocument(contract, config)),
  });
}

/** The servers in the text of a contract, and the sunset date of the pet lookup, which only v1 has. */
const SERVERS = /^servers:\n(?: .*\n)+/m;
const SUNSET = /^( *x-sunset: ).*$/m;

/** Returns the text of a contract with the servers and dates of a configuration. */
function servedYaml({ source, version }: Contract, config: Config): string {
  const servers = serversOf(config, version).map(
    ({ url, description }) => `  - url: ${JSON.stringify(url)}\n    description: ${description}\n`,
  );
  return source
    .replace(SERVERS, () => `servers:\n${servers.join('')}`)
    .replace(SUNSET, (_, name: string) => `${name}${JSON.stringify(sunsetOf(config))}`);
}

/** Returns a contract with the servers and dates of a configuration. */
export function servedDocument({ document, version }: Contract, config: Config): OpenApi {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const hasSunset = operation['x-sunset'] !== undefined;
      return [method, hasSunset ? { ...operation, 'x-sunset': sunsetOf(config) } : operation];
    });
    return [path, Object.fromEntries(operations)];
  });
  return { ...document, servers: serversOf(config, version), paths: Object.fromEntries(paths) };
}

function sunsetOf({ petLookup }: Config): string {
  return new Date(petLookup.sunsetAt).toISOString();
}

/** Returns the servers of the contract. Without STAGING_BASE_URL, only this service, described by ENVIRONMENT. */
function serversOf({ environment, rootUrl, stagingRootUrl }: Config, version: Version) {
  const url = `${rootUrl}/${version}`;
  if (environment === 'staging' && stagingRootUrl === undefined) {
    return [{ url, description: 'Staging' }];
  }
  const production = { url, description: 'Production' };
  if (stagingRootUrl === undefined) return [production];
  return [production, { url: `${stagingRootUrl}/${version}`, description: 'Staging' }];
}
