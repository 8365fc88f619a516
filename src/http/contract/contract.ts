import { load } from 'js-yaml';
import { type OpenApi, resolved, scopeOf } from '../../../protocol/openapi.ts';
import { asset } from '../../assets.ts';
import { SCOPES, type Scope } from '../../domain/api-key.ts';
import type { Exchange, RouteHandler } from '../request/exchange.ts';
import type { Router } from '../request/router.ts';
import { type Accepted, type OperationInput, validated } from './handlers.ts';
import { ContractValidation } from './validation.ts';

/** The versions of the contract: the files in contract/, and the last segment of their base paths. */
export type Version = 'v1' | 'v2';

interface ContractOperation extends Accepted {
  /** Relative to the base path: /store/orders/{orderId} */
  readonly path: string;
  /** In lower case. */
  readonly method: string;
  /** The scope that an API key needs; undefined in v1, whose handlers name it. */
  readonly scope: Scope | undefined;
}

const LOADED = new Map<Version, Contract>();

/** A version of the contract, read from contract/<version>.yaml. */
export class Contract {
  readonly version: Version;
  /** The YAML text. */
  readonly source: string;
  readonly document: OpenApi;
  /** By operationId. */
  readonly #operations: ReadonlyMap<string, ContractOperation>;
  /** Made for the first operation that validates its input; v1 has none. */
  #validation: ContractValidation | undefined;

  /** Returns a version of the contract, which is parsed once per process. */
  static load(version: Version): Contract {
    const contract = LOADED.get(version) ?? new Contract(version);
    LOADED.set(version, contract);
    return contract;
  }

  private constructor(version: Version) {
    this.version = version;
    this.source = asset(`contract/${version}.yaml`);
    this.document = load(this.source) as OpenApi;
    this.#operations = operationsOf(this.document, version);
  }

  /**
   * Returns a handler whose input is valid by the contract.
   * @throws Error if the contract has no such operation, or a schema that cannot be validated exactly
   */
  validated<Parameters, Body = undefined>(
    operationId: string,
    handle: (exchange: Exchange, input: OperationInput<Parameters, Body>) => void | Promise<void>,
  ): RouteHandler {
    const operation = this.#operations.get(operationId);
    if (operation === undefined) {
      throw new Error(`contract ${this.version} has no operation ${operationId}`);
    }
    try {
      // Schemas refer to these as "#/components/schemas/…".
      this.#validation ??= new ContractValidation(this.document.components);
      return validated(this.#validation, operation, handle);
    } catch (error) {
      throw new Error(`contract ${this.version}: ${operationId}: ${(error as Error).message}`);
    }
  }

  /**
   * Adds all operations to the router, under their names.
   * @param handlers by operationId
   * @throws Error if an operation has no handler, or a handler no operation
   */
  addTo(router: Router, basePath: string, handlers: Readonly<Record<string, RouteHandler>>): void {
    const unknown = Object.keys(handlers).filter((name) => !this.#operations.has(name));
    if (unknown.length > 0) {
      throw new Error(`contract ${this.version} has no operation ${unknown.join(', ')}`);
    }
    for (const [operation, { path, method, scope }] of this.#operations) {
      const handler = handlers[operation];
      if (handler === undefined) throw new Error(`${operation} of ${this.version} has no handler`);
      router.add(method.toUpperCase(), basePath + path, {
        operation,
        version: this.version,
        isPublic: false,
        scope,
        ...handler,
      });
    }
  }
}

function operationsOf(document: OpenApi, version: Version): ReadonlyMap<string, ContractOperation> {
  const operations = new Map<string, ContractOperation>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const { operationId, parameters = [], requestBody, security } = operation;
      const scope = scopeOf(operation) as Scope | undefined;
      // v1's contract has no scopes: they are with its operations.
      const isStated = version === 'v1' || security !== undefined;
      if (!isStated || (scope !== undefined && !SCOPES.includes(scope))) {
        throw new Error(
          `contract ${version}: the security of ${operationId} must have one scope of ${SCOPES.join(', ')}, or none`,
        );
      }
      operations.set(operationId, {
        path,
        method,
        scope,
        // Headers are read by the parts that use them: authentication, preconditions, idempotency.
        parameters: parameters
          .map((each) => resolved(document, each))
          .filter((each) => each.in !== 'header'),
        requestBody,
      });
    }
  }
  return operations;
}
