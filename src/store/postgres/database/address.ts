import { existsSync } from 'node:fs';
import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { StoreNotUsable } from '../../store.ts';

const SCHEME = /^postgres(?:ql)?:\/\//;
/** Credentials, comma-separated hosts, and the rest of a URL. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'];
/** Variables of PostgreSQL's clients that apply to URLs without the parameter; the driver would give them another meaning. */
const TLS_FILES = {
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const;
/** Parameters that the driver or this program evaluates; others are refused because they would have no effect. */
const PARAMETERS = [
  ...['sslmode', ...Object.keys(TLS_FILES), 'host', 'port'],
  ...['user', 'password', 'options', 'application_name'],
];
/** Values of PGSSLMODE with another name here: libpq's allow begins without TLS, and the driver's no-verify trusts any certificate. */
const SSL_MODES_OF_VARIABLE: Readonly<Record<string, string>> = {
  allow: 'disable',
  'no-verify': 'require',
};

/** Connection settings for one host. */
export interface Host {
  /** HOST:PORT, for messages. */
  readonly label: string;
  /** @throws StoreNotUsable if a certificate that the URL names cannot be read */
  readonly config: () => ClientConfig;
  /** Used without TLS if the server does not support it; present only with sslmode=prefer. */
  readonly fallback?: () => ClientConfig;
}

interface Address {
  /** For messages: without password and parameters. */
  readonly label: string;
  readonly hosts: readonly Host[];
}

export function isPostgresUrl(url: string): boolean {
  return SCHEME.test(url);
}

export function postgresUrlProblem(url: string): string | undefined {
  const hosts = hostUrls(url);
  if (!hosts.every((each) => URL.canParse(each)) || isAmbiguous(url)) return ENCODE;
  const parsed = hosts.map((each) => new URL(each));
  const { searchParams } = parsed[0]!;
  if (!isDecodable(parsed[0]!)) return ENCODE;
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    // A part of a password that is not percent-encoded can be mistaken for a parameter. A plain word is shown: it is a misspelt parameter.
    const isPlain = /^[a-z_]{1,30}$/.test(unknown) || PARAMETERS.includes(unknown.toLowerCase());
    const shown = isPlain ? ` (not ${unknown})` : '';
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
  'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in percent-encoding (/ is %2F, ? is %3F, # is %23, @ is %40, % is %25)';

/**
 * Returns whether a part of the password may have been read as host, path or fragment: then it would be shown. A password ends at an @,
 * and before it "/", "?" and "#" must be encoded.
 */
function isAmbiguous(url: string): boolean {
  const [, , , rest = ''] = PARTS.exec(url) ?? [];
  const [path = '', ...query] = rest.split('?');
  // A parameter after a path is hardly part of a password.
  const mayHaveAt =
    path === ''
      ? /^(?:user|password|application_name)=[^/]*$/
      : /^(?:user|password|application_name|options|sslrootcert|sslcert|sslkey)=/;
  const isInValue = query
    .join('?')
    .split('&')
    .every((each) => !each.includes('@') || mayHaveAt.test(each));
  return rest.includes('#') || path.includes('@') || !isInValue;
}

/** Whether the driver can read user and password; a "%" that encodes nothing stands for itself. */
function isDecodable({ href }: URL): boolean {
  try {
    // Without parameters, which can name files.
    parse(href.replace(/\?.*$/, ''));
    return true;
  } catch {
    return false;
  }
}

/** Returns the name of a database; a "%" that encodes nothing stands for itself. */
function databaseIn(pathname: string): string | undefined {
  const name = pathname.slice(1);
  try {
    return decodeURIComponent(name) || undefined;
  } catch {
    return name;
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
        label: own.searchParams.get('host') ?? own.host,
        config: () => configOf(own),
        ...(isTlsOptional && { fallback: () => configOf(withoutTls) }),
      };
    }),
  };
}

/** @throws StoreNotUsable if a certificate that the URL names cannot be read */
function configOf(url: URL): ClientConfig {
  try {
    // With this option sslmode has the meaning that it has in libpq.
    const parsed = parse(url.href, { useLibpqCompat: true });
    // The driver leaves "/", "?", "#", "&" and "+" of a name encoded.
    return { ...(parsed as ClientConfig), database: databaseIn(url.pathname) };
  } catch (error) {
    throw new StoreNotUsable((error as Error).message, { cause: error });
  }
}

/**
 * Adds the environment's TLS variables to a URL, as PostgreSQL's own clients apply them. Certificates without a mode do not turn TLS on. Files
 * that do not exist are left out, except the certificate that verification needs.
 */
function withTlsVariables(url: string): URL {
  const own = new URL(url);
  const { searchParams } = own;
  const given = process.env.PGSSLMODE;
  if (given && !searchParams.has('sslmode')) {
    searchParams.set('sslmode', SSL_MODES_OF_VARIABLE[given] ?? given);
  }
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (mode === 'disable') return own;
  const isNeeded = (name: string) => name === 'sslrootcert' && mode.startsWith('verify-');
  for (const [name, variable] of Object.entries(TLS_FILES)) {
    const path = process.env[variable];
    // "system" names the authorities that verify-full trusts without a file.
    if (!path || path === 'system' || searchParams.has(name)) continue;
    const isTrusting = given === 'no-verify' && name === 'sslrootcert';
    if (!isTrusting && (isNeeded(name) || existsSync(path))) searchParams.set(name, path);
  }
  return own;
}

/** Returns the certificates and keys that a URL names. */
export function filesIn(url: string): string[] {
  const { searchParams } = withTlsVariables(hostUrls(url)[0]!);
  return Object.keys(TLS_FILES).flatMap((name) => searchParams.get(name) ?? []);
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
