import { parseDocument } from 'yaml';
import type { Config } from '../config/config.ts';
import { type FixedBody, fixedBody, sendFixed } from '../http/fixed-response.ts';
import type { Router } from '../http/router.ts';
import { toJson } from '../json/to-json.ts';
import type { Contract, Version } from './contract.ts';

/** Returns the path of a contract in YAML; the JSON form is at the same path with .json. */
export function documentPath(version: Version): string {
  return `/openapi/${version}.yaml`;
}

/** Adds public routes for a contract, with the servers and dates of this configuration. */
export function addContractDocument(router: Router, contract: Contract, config: Config): void {
  const yamlPath = documentPath(contract.version);
  let rendered: Rendered | undefined;
  // Rendered on first request, since that takes as long as a third of the startup.
  const addAs = (path: string, type: string, form: keyof Rendered) =>
    router.addPublic(path, (exchange) => {
      rendered ??= render(contract, config);
      sendFixed(exchange, rendered[form], type);
    });
  addAs(yamlPath, 'application/yaml', 'yaml');
  addAs(yamlPath.replace(/yaml$/, 'json'), 'application/json', 'json');
}

interface Rendered {
  readonly yaml: FixedBody;
  readonly json: FixedBody;
}

/** Sunset date of the pet lookup, which only v1 has. */
const SUNSET = ['paths', '/pets/{petId}', 'get', 'x-sunset'];

function render({ source, version }: Contract, config: Config): Rendered {
  const document = parseDocument(source, { intAsBigInt: true });
  document.set('servers', document.createNode(servers(config, version)));
  if (document.hasIn(SUNSET)) {
    document.setIn(SUNSET, new Date(config.petLookup.sunsetAt).toISOString());
  }
  return { yaml: fixedBody(document.toString()), json: fixedBody(toJson(document.toJS())) };
}

/** Returns the servers of the contract. Without STAGING_BASE_URL, only this service, described by ENVIRONMENT. */
function servers({ environment, rootUrl, stagingRootUrl }: Config, version: Version) {
  const url = `${rootUrl}/${version}`;
  if (environment === 'staging' && stagingRootUrl === undefined) {
    return [{ url, description: 'Staging' }];
  }
  const production = { url, description: 'Production' };
  if (stagingRootUrl === undefined) return [production];
  return [production, { url: `${stagingRootUrl}/${version}`, description: 'Staging' }];
}
