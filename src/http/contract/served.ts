import { toJson } from '../../../protocol/exact-json.ts';
import type { OpenApi } from '../../../protocol/openapi.ts';
import type { Environment } from '../../domain/api-key.ts';
import { addFixed } from '../request/fixed-response.ts';
import type { Router } from '../request/router.ts';
import type { Contract, Version } from './contract.ts';

/** The facts of a deployment that a contract shows. */
interface Deployment {
  readonly environment: Environment;
  /** The URL of the service, such as https://api.store.example */
  readonly rootUrl: string;
  /** The URL of the service for tests, if there is one. */
  readonly stagingRootUrl: string | undefined;
  readonly petLookup: {
    /** Milliseconds since the epoch. */
    readonly sunsetAt: number;
  };
}

/** Returns the path of a contract in YAML; the JSON form is at the same path with .json. */
export function documentPath(version: Version): string {
  return `/openapi/${version}.yaml`;
}

/** Adds public routes for a contract, with the servers and dates of this configuration. */
export function addContractDocument(router: Router, contract: Contract, config: Deployment): void {
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

/** The servers in the text of a contract, and the sunset date of v1's pet lookup. */
const SERVERS = /^servers:\n(?: .*\n)+/m;
const SUNSET = /^( *x-sunset: ).*$/m;

/** Returns the text of a contract with the servers and dates of a configuration. */
function servedYaml({ source, version }: Contract, config: Deployment): string {
  const servers = serversOf(config, version).map(
    ({ url, description }) => `  - url: ${JSON.stringify(url)}\n    description: ${description}\n`,
  );
  return source
    .replace(SERVERS, () => `servers:\n${servers.join('')}`)
    .replace(SUNSET, (_, name: string) => `${name}${JSON.stringify(sunsetOf(config))}`);
}

/** Returns a contract with the servers and dates of a configuration. */
export function servedDocument({ document, version }: Contract, config: Deployment): OpenApi {
  const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, operation]) => {
      const hasSunset = operation['x-sunset'] !== undefined;
      return [method, hasSunset ? { ...operation, 'x-sunset': sunsetOf(config) } : operation];
    });
    return [path, Object.fromEntries(operations)];
  });
  return { ...document, servers: serversOf(config, version), paths: Object.fromEntries(paths) };
}

function sunsetOf({ petLookup }: Deployment): string {
  return new Date(petLookup.sunsetAt).toISOString();
}

/** Returns the servers of the contract. Without STAGING_BASE_URL, only this service, described by ENVIRONMENT. */
function serversOf({ environment, rootUrl, stagingRootUrl }: Deployment, version: Version) {
  const isStaging = environment === 'staging' && stagingRootUrl === undefined;
  const own = { url: `${rootUrl}/${version}`, description: isStaging ? 'Staging' : 'Production' };
  if (stagingRootUrl === undefined) return [own];
  return [own, { url: `${stagingRootUrl}/${version}`, description: 'Staging' }];
}
