import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { StoreNotUsable } from '../../store.ts';

const SCHEME = /^postgres(?:ql)?:\/\//;
/** Credentials, comma-separated hosts, and the rest of a URL. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;
/** Parameters that the driver or this program evaluates; others are refused because they would have no effect. */
const PARAMETERS = [
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'host',
  'port',
  'user',
  'password',
  'options',
  'application_name',
];
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Variables of PostgreSQL's clients that apply to URLs without the parameter; the driver would give them another meaning. */
const TLS_VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const;

/** Connection settings for one host. */
export interface Host {
  /** @throws StoreNotUsable if a certificate that the URL names cannot be read */
  readonly config: () => ClientConfig;
  /** Used without TLS if the server does not support it; present only with sslmode=prefer. */
  readonly fallback?: () => ClientConfig;
}

export interface Address {
  /** For messages: without password and parameters. */
  readonly label: string;
  readonly hosts: readonly Host[];
}

export function isPostgresUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** Returns the problem with a postgres:// URL, or undefined. */
export function postgresUrlProblem(url: string): string | undefined {
  const hosts = hostUrls(url);
  if (!hosts.every((each) => URL.canParse(each)) || isAmbiguous(url)) return ENCODE;
  const parsed = hosts.map((each) => new URL(each));
  const { username, password, pathname, searchParams } = parsed[0]!;
  if (![username, password, pathname].every(isDecodable)) return ENCODE;
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    // Part of a password without percent-encoding can be mistaken for a parameter, but not one that is a plain word.
    const shown = /^[a-z_]{1,30}$/.test(unknown) ? ` (not ${unknown})` : '';
    return `must have no parameters other than ${PARAMETERS.join(', ')}${shown}`;
  }
  if (new Set(names).size < names.length) return 'must not repeat a parameter';
  const sslMode = withTlsVariables(hosts[0]!).searchParams.get('sslmode');
  if (sslMode !== null && !SSL_MODES.includes(sslMode)) {
    const source = searchParams.has('sslmode') ? '' : ' (PGSSLMODE sets another)';
    return `must have an sslmode of ${SSL_MODES.join(', ')}${source}`;
  }
  return undefined;
}

const ENCODE =
  'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in percent-encoding (/ is %2F, ? is %3F, # is %23, @ is %40)';

/**
 * Returns whether a part of the password may have been read as host, path or fragment: then it would be shown. A password ends at an @,
 * and before it "/", "?" and "#" must be encoded.
 */
function isAmbiguous(url: string): boolean {
  const [, , , rest = ''] = PARTS.exec(url) ?? [];
  const [path = '', ...query] = rest.split('?');
  const isInValue = query
    .join('?')
    .split('&')
    .every((each) => /^(?:user|password|application_name)=[^/]*$|^[^@]*$/.test(each));
  return rest.includes('#') || path.includes('@') || !isInValue;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Parses a URL in which `postgresUrlProblem` finds no problem. */
export function parseAddress(url: string): Address {
  const urls = hostUrls(url);
  const { username, pathname, searchParams } = new URL(urls[0]!);
  const authority =
    searchParams.get('host')?.replace(/^.*@/, '') ??
    urls.map((each) => new URL(each).host).join(',');
  return {
    label: `postgres://${username === '' ? '' : `${username}@`}${authority}${pathname}`,
    hosts: urls.map((each) => {
      const own = withTlsVariables(each);
      const isTlsOptional = own.searchParams.get('sslmode') === 'prefer';
      const withoutTls = new URL(own);
      withoutTls.searchParams.set('sslmode', 'disable');
      return {
        config: () => configOf(own),
        ...(isTlsOptional && { fallback: () => configOf(withoutTls) }),
      };
    }),
  };
}

/** @throws StoreNotUsable if a certificate that the URL names cannot be read */
function configOf(url: URL): ClientConfig {
  try {
    // Gives sslmode the meaning it has in libpq.
    const parsed = parse(url.href, { useLibpqCompat: true });
    // The driver leaves "/", "?", "#", "&" and "+" of a name encoded.
    const database = decodeURIComponent(url.pathname.slice(1)) || undefined;
    return { ...(parsed as ClientConfig), database };
  } catch (error) {
    throw new StoreNotUsable((error as Error).message, { cause: error });
  }
}

/** Returns the URL with what the environment says about TLS, as for PostgreSQL's own clients. */
function withTlsVariables(url: string): URL {
  const own = new URL(url);
  for (const [name, variable] of Object.entries(TLS_VARIABLES)) {
    const value = process.env[variable];
    if (value && !own.searchParams.has(name)) own.searchParams.set(name, value);
  }
  return own;
}

/** Returns the certificates and keys that a URL names. */
export function filesIn(url: string): string[] {
  const { searchParams } = withTlsVariables(hostUrls(url)[0]!);
  return ['sslrootcert', 'sslcert', 'sslkey'].flatMap((name) => searchParams.get(name) ?? []);
}

/** Returns the URL without user and password, for comparing databases. */
export function withoutCredentials(url: string): string {
  return url
    .replace(/^(\w+:\/\/)[^/?#]*@/, '$1')
    .replaceAll(/([?&])(?:user|password)=[^&]*&?/g, '$1')
    .replace(/[?&]$/, '');
}

/** Returns one URL per host in `url`. */
function hostUrls(url: string): string[] {
  const [, before, hosts, rest] = PARTS.exec(url) ?? [];
  if (hosts === undefined) return [''];
  // Without a host, the parameter "host" gives one or a socket directory; URL requires a host nevertheless.
  return hosts.split(',').map((host) => `${before}${host === '' ? 'localhost' : host}${rest}`);
}
