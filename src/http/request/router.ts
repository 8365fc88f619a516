import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way';
import type { Refusal } from '../error-records.ts';
import { MAX_URL_BYTES } from '../limits.ts';
import type { Exchange, Handle, Match, Route } from './exchange.ts';
import { sendError } from './reply.ts';

interface Path {
  readonly byMethod: Map<string, Route>;
  otherMethods: Route;
}

/**
 * Matches requests to routes. Path segments are compared per RFC 3986: case-sensitive, "%2F" is not a separator, and
 * percent-encoding is decoded once.
 */
export class Router {
  readonly #basePaths: readonly string[];
  // All methods of a path share one entry, so that other methods get 405 with Allow.
  readonly #entries: Instance<HTTPVersion.V1> = findMyWay({ maxParamLength: MAX_URL_BYTES });
  readonly #paths = new Map<string, Path>();

  /** @param basePaths prefixes of operations; unknown paths below them need an API key too */
  constructor(basePaths: readonly string[]) {
    this.#basePaths = basePaths;
  }

  /**
   * Adds a route. A GET route also serves HEAD.
   * @param template with parameters as in the contract: /v1/store/orders/{orderId}
   */
  add(method: string, template: string, handled: Omit<Route, 'template'>): void {
    const route: Route = { ...handled, template };
    let path = this.#paths.get(template);
    if (path === undefined) {
      path = { byMethod: new Map(), otherMethods: route };
      this.#paths.set(template, path);
      this.#entries.on('GET', template.replaceAll(/\{(\w+)\}/g, ':$1'), () => {}, path);
    }
    path.byMethod.set(method, route);
    if (method === 'GET') path.byMethod.set('HEAD', route);
    const allow = [...path.byMethod.keys()].join(', ');
    path.otherMethods = {
      ...route,
      operation: 'none',
      version: 'none',
      maxBodyBytes: undefined,
      // 405 and Allow need no scope: they reveal nothing beyond the contract.
      scope: undefined,
      handle: (exchange) => sendError(exchange, 'method_not_allowed', ['allow', allow]),
    };
  }

  /** Adds a GET route that needs no API key and is not an operation of the contract. */
  addPublic(path: string, handle: Handle): void {
    this.add('GET', path, { operation: 'none', version: 'none', isPublic: true, handle });
  }

  /** @param path as sent, without the query */
  find(method: string, path: string): Match {
    const decoded = decodedPath(path);
    if (decoded === undefined) return BAD_URL;
    const entry = path.startsWith('/') ? this.#entries.find('GET', path) : null;
    // Path parameters must not be empty.
    if (entry === null || hasEmpty(entry.params)) return this.#notFound(decoded);
    const { byMethod, otherMethods } = entry.store as Path;
    return { route: byMethod.get(method) ?? otherMethods, parameters: entry.params };
  }

  #notFound(path: string): Match {
    const isBelow = this.#basePaths.some((base) => path === base || path.startsWith(`${base}/`));
    return isBelow ? NOTHING_BELOW : NOTHING_OUTSIDE;
  }

  /** All path templates, with parameters as in the contract. */
  get templates(): readonly string[] {
    return [...this.#paths.keys()];
  }
}

function hasEmpty(parameters: Match['parameters']): boolean {
  for (const name in parameters) if (parameters[name] === '') return true;
  return false;
}

function errorMatch(refusal: Refusal, isPublic: boolean): Match {
  const handle = (exchange: Exchange) => sendError(exchange, refusal);
  return { route: { operation: 'none', version: 'none', isPublic, handle }, parameters: {} };
}

const BAD_URL = errorMatch('bad_url', true);
const NOTHING_BELOW = errorMatch('not_found', false);
const NOTHING_OUTSIDE = errorMatch('not_found', true);

/** Returns the decoded path; undefined if its percent-encoding is malformed. */
function decodedPath(path: string): string | undefined {
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
