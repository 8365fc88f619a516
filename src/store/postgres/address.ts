import type { ClientConfig } from 'pg';

const SCHEME = /^postgres(?:ql)?:\/\//;
/** User and password, hosts, and the rest of a URL; hosts may be several, with commas between them. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/;
/** What the driver and we know what to do with; any other would be without effect. */
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

/** One way to reach a database. */
export interface Host {
  readonly config: ClientConfig;
  /** Without TLS, if the server has none and that is allowed. */
  readonly fallback?: ClientConfig;
}

export interface Address {
  /** For people: without password and parameters. */
  readonly label: string;
  readonly hosts: readonly Host[];
}

export function isPostgresUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** What is wrong with a postgres:// URL, or undefined. */
export function postgresUrlProblem(url: string): string | undefined {
  const hosts = hostUrls(url);
  if (!hosts.every((each) => URL.canParse(each))) {
    return 'must be postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters in percent-encoding';
  }
  const { searchParams } = new URL(hosts[0]!);
  const names = [...searchParams.keys()];
  // Not which: part of a password that is not in percent-encoding can be taken for a parameter.
  if (names.some((name) => !PARAMETERS.includes(name))) {
    return `must have no other parameters than ${PARAMETERS.join(', ')}`;
  }
  if (new Set(names).size < names.length) return 'must have each parameter once';
  const sslMode = searchParams.get('sslmode');
  if (sslMode !== null && !SSL_MODES.includes(sslMode)) {
    return `must have an sslmode of ${SSL_MODES.join(', ')}`;
  }
  return undefined;
}

/** Of a URL with which postgresUrlProblem finds no fault. */
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
      // With the meaning that sslmode has everywhere else.
      config: { connectionString: withParameter(each, 'uselibpqcompat', 'true') },
      ...(isTlsOptional && {
        fallback: { connectionString: withParameter(each, 'sslmode', 'disable') },
      }),
    })),
  };
}

/** For comparing databases. */
export function withoutCredentials(url: string): string {
  return url
    .replace(/^(\w+:\/\/)[^/?#]*@/, '$1')
    .replaceAll(/([?&])(?:user|password)=[^&]*&?/g, '$1')
    .replace(/[?&]$/, '');
}

/** One URL for each host that `url` names. */
function hostUrls(url: string): string[] {
  const [, before, hosts, rest] = PARTS.exec(url) ?? [];
  if (hosts === undefined) return [''];
  // Without a host the parameter "host" names one, or the folder of a socket; URL wants one there.
  return hosts.split(',').map((host) => `${before}${host === '' ? 'localhost' : host}${rest}`);
}

function withParameter(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}
