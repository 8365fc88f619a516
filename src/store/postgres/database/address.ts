import type { ClientConfig } from 'pg';

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

/** Connection settings for one host. */
export interface Host {
  readonly config: ClientConfig;
  /** Used without TLS if the server does not support it; present only with sslmode=prefer. */
  readonly fallback?: ClientConfig;
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
  if (!hosts.every((each) => URL.canParse(each))) {
    return 'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in percent-encoding';
  }
  const { searchParams } = new URL(hosts[0]!);
  const names = [...searchParams.keys()];
  // The parameter is not named: part of a password without percent-encoding can be mistaken for a parameter.
  if (names.some((name) => !PARAMETERS.includes(name))) {
    return `must have no parameters other than ${PARAMETERS.join(', ')}`;
  }
  if (new Set(names).size < names.length) return 'must not repeat a parameter';
  const sslMode = searchParams.get('sslmode');
  if (sslMode !== null && !SSL_MODES.includes(sslMode)) {
    return `must have an sslmode of ${SSL_MODES.join(', ')}`;
  }
  return undefined;
}

/** Parses a URL in which `postgresUrlProblem` finds no problem. */
export function parseAddress(url: string): Address {
  const urls = hostUrls(url);
  const { username, pathname, searchParams } = new URL(urls[0]!);
  const authority =
    searchParams.get('host')?.replace(/^.*@/, '') ??
    urls.map((each) => new URL(each).host).join(',');
  const isTlsOptional = searchParams.get('sslmode') === 'prefer';
  return {
    label: `postgres://${username === '' ? '' : `${username}@`}${authority}${pathname}`,
    hosts: urls.map((each) => ({
      // Gives sslmode the meaning it has in libpq.
      config: { connectionString: withParameter(each, 'uselibpqcompat', 'true') },
      ...(isTlsOptional && {
        fallback: { connectionString: withParameter(each, 'sslmode', 'disable') },
      }),
    })),
  };
}

/** Returns the certificates and keys that a URL names. */
export function filesIn(url: string): string[] {
  const { searchParams } = new URL(hostUrls(url)[0]!);
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

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}
