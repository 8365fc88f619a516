import type { Headers } from './errors.ts';
import type { Exchange } from './exchange.ts';

/** Answers a request. What it throws becomes an Error record. */
export type Handle = (exchange: Exchange) => void | Promise<void>;

/** Where a request goes. */
export interface Route {
  /** The operation's name in the contract; "none" for what is no operation of it. */
  readonly operation: string;
  /** Needs no key. Everything that does not say so does. */
  readonly isPublic: boolean;
  /** What every answer carries, whatever it is. */
  readonly headers: Headers;
  readonly handle: Handle;
}

/** What the methods of one path have in common. */
export type PathOptions = Partial<Pick<Route, 'isPublic' | 'headers'>>;

/** The methods of one path; HEAD comes with GET. */
export type Methods = Partial<Record<'GET' | 'DELETE', Pick<Route, 'operation' | 'handle'>>>;

interface Path {
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly otherMethods: Route;
}

/** Where requests go that nobody has foreseen. */
export interface Fallbacks {
  /** For a path, decoded, at which there is nothing. */
  readonly notFound: (path: string) => Route;
  /** For a path that cannot be decoded. */
  readonly badUrl: Route;
  /** For the methods that a path has not, beside those it has. */
  readonly otherMethods: (allowed: readonly string[]) => Handle;
}

/** What a path and a method come to. */
export interface Match {
  readonly route: Route;
  /** The segment that stands for the route's parameter, decoded; "" if it has none. */
  readonly parameter: string;
}

/** Which path and method goes where: RFC 3986's paths, whose last segment may be a parameter. */
export class Routes {
  readonly #fallbacks: Fallbacks;
  readonly #whole = new Map<string, Path>();
  /** Beside what precedes the parameter, with the slash. */
  readonly #withParameter: [prefix: string, path: Path][] = [];

  constructor(fallbacks: Fallbacks) {
    this.#fallbacks = fallbacks;
  }

  /** @param path `/a/b`, or `/a/b/` for any one segment after it */
  add(path: string, { isPublic = false, headers = [] }: PathOptions, methods: Methods): void {
    const byMethod = new Map<string, Route>();
    for (const [method, { operation, handle }] of Object.entries(methods)) {
      const route = { operation, isPublic, headers, handle };
      byMethod.set(method, route);
      if (method === 'GET') byMethod.set('HEAD', route);
    }
    const handle = this.#fallbacks.otherMethods([...byMethod.keys()]);
    const otherMethods = { operation: 'none', isPublic, headers, handle };
    const added = { byMethod, otherMethods };
    if (path.endsWith('/')) this.#withParameter.push([path, added]);
    else this.#whole.set(path, added);
  }

  /** What anybody may GET and is no operation of the contract. */
  addPublic(path: string, handle: Handle): void {
    this.add(path, { isPublic: true }, { GET: { operation: 'none', handle } });
  }

  /** @param path as it was sent, without the query */
  find(method: string, path: string): Match {
    const decoded = path.includes('%') ? decodedPath(path) : path;
    if (decoded === undefined) return { route: this.#fallbacks.badUrl, parameter: '' };
    const whole = this.#whole.get(decoded);
    if (whole !== undefined) return { route: routeOf(whole, method), parameter: '' };
    for (const [prefix, found] of this.#withParameter) {
      if (!decoded.startsWith(prefix)) continue;
      const parameter = decoded.slice(prefix.length);
      if (parameter === '' || parameter.includes('/')) continue;
      return { route: routeOf(found, method), parameter };
    }
    return { route: this.#fallbacks.notFound(decoded), parameter: '' };
  }

  /** All paths, as `add` got them. */
  get paths(): string[] {
    return [...this.#whole.keys(), ...this.#withParameter.map(([prefix]) => prefix)];
  }
}

function routeOf({ byMethod, otherMethods }: Path, method: string): Route {
  return byMethod.get(method) ?? otherMethods;
}

/**
 * Percent-encoded characters that mean the same unencoded are; others stay (RFC 3986, section 2.2), so that
 * `%2F` parts no segments.
 */
function decodedPath(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
