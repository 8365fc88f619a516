import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way';
import type { HeaderList, Refusal } from './errors.ts';
import type { Exchange, Handle, Match, Route } from './exchange.ts';
import { MAX_URL_BYTES } from './limits.ts';
import { sendError } from './responses.ts';

/** Handlers of a path by method; GET also serves HEAD. */
export type Methods = Partial<
  Record<'GET' | 'POST' | 'DELETE', Pick<Route, 'operation' | 'handle' | 'takesBody'>>
>;

interface Path {
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly otherMethods: Route;
}

/**
 * Matches requests to routes. Path segments are compared per RFC 3986: case-sensitive, "%2F" is not a separator, and
 * percent-encoding is decoded once.
 */
export class Router {
  readonly #basePath: string;
  // All methods of a path share one entry, so that other methods get 405 with Allow.
  readonly #entries: Instance<HTTPVersion.V1> = findMyWay({ maxParamLength: MAX_URL_BYTES });
  readonly #templates: string[] = [];

  /** @param basePath prefix of all operations; unknown paths below it need an API key too */
  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /**
   * Adds the path of an operation.
   * @param template relative to the base path, as in the contract: /store/orders/{orderId}
   * @param headers of every response
   */
  add(template: string, methods: Methods, headers: HeaderList = []): void {
    this.#add(this.#basePath + template, methods, { isPublic: false, headers });
  }

  /** Adds a GET route that needs no API key and is not a contract operation. */
  addPublic(path: string, handle: Handle): void {
    const get = { operation: 'none', handle };
    this.#add(path, { GET: get }, { isPublic: true, headers: [] });
  }

  #add(template: string, methods: Methods, options: Pick<Route, 'isPublic' | 'headers'>): void {
    const byMethod = new Map<string, Route>();
    for (const [method, handler] of Object.entries(methods)) {
      const route = { ...handler, ...options };
      byMethod.set(method, route);
      if (method === 'GET') byMethod.set('HEAD', route);
    }
    const allow = [...byMethod.keys()].join(', ');
    const handle = (exchange: Exchange) =>
      sendError(exchange, 'method_not_allowed', ['allow', allow]);
    const path: Path = { byMethod, otherMethods: { operation: 'none', handle, ...options } };
    this.#entries.on('GET', template.replaceAll(/\{(\w+)\}/g, ':$1'), () => {}, path);
    this.#templates.push(template);
  }

  /** @param path as sent, without the query */
  find(method: string, path: string): Match {
    const decoded = decodedPath(path);
    if (decoded === undefined) return BAD_URL;
    const entry = path.startsWith('/') ? this.#entries.find('GET', path) : null;
    // Path parameters must not be empty.
    if (entry === null || Object.values(entry.params).includes('')) return this.#notFound(decoded);
    const { byMethod, otherMethods } = entry.store as Path;
    return { route: byMethod.get(method) ?? otherMethods, parameters: entry.params };
  }

  #notFound(path: string): Match {
    const isBelow = path === this.#basePath || path.startsWith(`${this.#basePath}/`);
    return isBelow ? NOTHING_BELOW : NOTHING_OUTSIDE;
  }

  /** All path templates, with parameters as in the contract. */
  get templates(): readonly string[] {
    return this.#templates;
  }
}

function errorMatch(refusal: Refusal, isPublic: boolean): Match {
  const handle = (exchange: Exchange) => sendError(exchange, refusal);
  return { route: { operation: 'none', isPublic, headers: [], handle }, parameters: {} };
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
