import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Mutex } from '../../concurrency.ts';

/** An address with the length of its network's prefix. */
type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** The targets that an operator permits besides https to public addresses. */
export interface AllowedTargets {
  /** Networks in which endpoints may be, with any port. */
  readonly networks: readonly Network[];
  /** Whether endpoints may use http. */
  readonly http: boolean;
}

export const PUBLIC_ONLY: AllowedTargets = { networks: [], http: false };

/** Parses a comma-separated list of networks, addresses and "http"; returns the first other item, if there is one. */
export function parseAllowedTargets(text: string): AllowedTargets | { readonly wrong: string } {
  const networks: Network[] = [];
  let http = false;
  for (const item of text.split(',').map((each) => each.trim())) {
    if (item === 'http') http = true;
    else if (ipaddr.isValidCIDR(item)) networks.push(ipaddr.parseCIDR(item));
    else if (isAddress(item)) {
      const address = ipaddr.parse(item);
      networks.push([address, address.kind() === 'ipv4' ? 32 : 128]);
    } else return { wrong: item };
  }
  return { networks, http };
}

/** Only the usual spelling of IPv4: ipaddr.js reads 0177.1 and 127.1, too. */
function isAddress(text: string): boolean {
  return ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text);
}

/** Global unicast: https://www.iana.org/assignments/ipv6-address-space */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3');

/** The address of the host of a virtual machine in Azure, although it is in a public range. */
const PLATFORM = '168.63.129.16';

/** Returns whether a connection to an address cannot end in the operator's own network. */
export function isPublicAddress(text: string): boolean {
  if (!isAddress(text) || text === PLATFORM) return false;
  const address = ipaddr.parse(text);
  // Ranges for translation and tunnels, such as 2002::/16, are not "unicast"; ranges that embed IPv4 addresses are outside 2000::/3.
  if (address.kind() === 'ipv6' && !address.match(GLOBAL_UNICAST)) return false;
  return address.range() === 'unicast';
}

/** Returns whether an address is in a network that the operator permits. */
function isAllowed(text: string, { networks }: AllowedTargets): boolean {
  if (!isAddress(text)) return false;
  // An IPv4 address may be written as an IPv6 one.
  const address = ipaddr.process(text);
  return networks.some((each) => each[0].kind() === address.kind() && address.match(each));
}

/** Whether a URL may lead to public addresses: https on its own port. Other URLs may only lead to permitted networks. */
function isStandard({ protocol, port }: URL): boolean {
  return protocol === 'https:' && port === '';
}

const MAX_URL_LENGTH = 2_000;

/** Returns why webhooks cannot be sent to a URL; undefined if they can. Names are checked when they are resolved: see `guardedLookup`. */
export function urlProblem(text: string, allowed: AllowedTargets): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  if (!URL.canParse(text)) return 'must be a URL';
  const url = new URL(text);
  // Percent-encoding makes the URL longer.
  if (url.href.length > MAX_URL_LENGTH) return `must have at most ${MAX_URL_LENGTH} characters`;
  const { protocol, username, password, hostname } = url;
  if (protocol !== 'https:' && !(protocol === 'http:' && allowed.http)) {
    return 'must begin with https:';
  }
  if (username !== '' || password !== '') return 'must not contain a user name or password';
  if (url.href.includes('#')) return 'must not contain a fragment';
  // The URL parser writes every spelling of an IPv4 address in the usual form.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isAddress(host)) {
    if (isAllowed(host, allowed) || (isStandard(url) && isPublicAddress(host))) return undefined;
    return isStandard(url) ? 'must not be in a private or reserved network' : 'must use port 443';
  }
  return isStandard(url) || allowed.networks.length > 0 ? undefined : 'must use port 443';
}

/** A name of an endpoint has no address to which webhooks may be sent. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/**
 * Returns a `lookup` for connections to a URL: it resolves the name only to addresses to which webhooks may be sent. Checking here covers names
 * that change their address after an earlier check. Addresses in URLs are not resolved: see `urlProblem`.
 */
export function guardedLookup(url: URL, allowed: AllowedTargets): LookupFunction {
  const mayBePublic = isStandard(url);
  const permitted = async (hostname: string, family: number) => {
    const found = (await addressesOf(hostname, allowed)).filter(
      (each) =>
        (family === 0 || family === each.family) &&
        (isAllowed(each.address, allowed) || (mayBePublic && isPublicAddress(each.address))),
    );
    if (found.length > 0) return found;
    throw new AddressRefused(`${hostname} has no address to which webhooks may be sent`);
  };
  return (hostname, { all, family }, callback) => {
    const wanted = family === 4 || family === 6 ? family : 0;
    permitted(hostname, wanted).then(
      (found) => {
        if (all === true) callback(null, found);
        else callback(null, found[0]!.address, found[0]!.family);
      },
      (error) => callback(error, ''),
    );
  };
}

const DNS = new Resolver({ timeout: 2_000, tries: 2 });
/** One lookup of the system at a time: they can take long, and occupy threads that files and compression need. */
const SYSTEM_LOOKUPS = new Mutex();

/** Resolves a name by DNS. If the operator permits networks, a name that is not in DNS is resolved by the system, which reads its hosts file. */
async function addressesOf(
  hostname: string,
  { networks }: AllowedTargets,
): Promise<LookupAddress[]> {
  const inSystem = () => SYSTEM_LOOKUPS.run(() => lookup(hostname, { all: true }));
  // RFC 6761, section 6.3
  if (/(?:^|\.)localhost\.?$/i.test(hostname)) return networks.length > 0 ? inSystem() : [];
  const [four, six] = await Promise.allSettled([DNS.resolve4(hostname), DNS.resolve6(hostname)]);
  if (four.status === 'rejected' && six.status === 'rejected') {
    if (networks.length > 0) return inSystem();
    throw four.reason;
  }
  const of = (found: PromiseSettledResult<string[]>, family: 4 | 6) =>
    found.status === 'rejected' ? [] : found.value.map((address) => ({ address, family }));
  return [...of(four, 4), ...of(six, 6)];
}
