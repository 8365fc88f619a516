import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AllowedTargets,
  guardedLookup,
  isPublicAddress,
  PUBLIC_ONLY,
  parseAllowedTargets,
  urlProblem,
} from '../../src/feed/deliveries/addresses.ts';

const allowed = (text: string) => parseAllowedTargets(text) as AllowedTargets;

/** Addresses of the inner network, and ones that lead there, as URLs may have them. */
const INNER = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '127.0.0.1.', '0.0.0.0', '0'],
  ...['10.0.0.1', '10.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.257'],
  ...['100.64.0.1', '100.127.255.255', '192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255'],
  ...['198.51.100.1', '203.0.113.1', '0.255.255.255', '169.254.0.0', '169.254.255.255'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['[::]', '[::1]', '[::127.0.0.1]', '[::8.8.8.8]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b::8.8.8.8]', '[64:ff9b:1::1]'],
  ...['[2002:7f00:1::1]', '[2001:0:7f00:1::1]', '[2001:db8::1]', '[100::1]', '[fc00::1]'],
  ...['[fe80::1]', '[fec0::1]', '[ff02::1]', '[5f00::1]', '[4000::1]'],
];

/** Where the platforms of clouds answer the machines that they run, so that those get credentials. */
const PLATFORMS = [
  ...['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', '169.254.170.2'],
  ...['[fd00:ec2::254]', '[fd20:ce::254]', '[fe80::a9fe:a9fe]'],
  ...['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2002:a9fe:a9fe::'].map(
    (prefix) => `[${prefix}169.254.169.254]`,
  ),
  ...['[::ffff:168.63.129.16]', '[::ffff:a83f:8110]', '[64:ff9b::100.100.100.200]'],
];

test('no spelling of an address in an inner or reserved network is a URL of an endpoint', () => {
  for (const host of [...INNER, ...PLATFORMS]) {
    assert.notEqual(urlProblem(`https://${host}/hook`, PUBLIC_ONLY), undefined, host);
  }
  // The neighbours of those networks, too.
  for (const host of [
    ...['8.8.8.8', '1.1.1.1', '[2606:4700::1111]', 'hooks.shop.example', '172.15.255.255'],
    ...['172.32.0.0', '100.63.255.255', '100.128.0.0', '169.253.255.255', '168.63.129.17'],
  ]) {
    assert.equal(urlProblem(`https://${host}/hook?a=1`, PUBLIC_ONLY), undefined, host);
  }
});

test('endpoints have https on port 443, without user names and fragments', () => {
  for (const url of [
    ...[
      'http://shop.example/',
      'ftp://shop.example/',
      'https://shop.example:8443/',
      'shop.example',
    ],
    ...[
      'https://me@shop.example/',
      'https://me:secret@shop.example/',
      'https://shop.example/#a',
      '',
    ],
    `https://shop.example/${'a'.repeat(2_000)}`,
    // 9 characters each, once they are percent-encoded.
    `https://shop.example/${'時'.repeat(300)}`,
  ]) {
    assert.notEqual(urlProblem(url, PUBLIC_ONLY), undefined, url);
  }
  assert.equal(urlProblem('https://shop.example:443/', PUBLIC_ONLY), undefined);
});

test('an operator can permit networks with any port, and http there', () => {
  const local = allowed('127.0.0.1, fd00::/8,10.1.0.0/16 , http');
  for (const url of [
    ...[
      'http://127.0.0.1:8080/',
      'https://10.1.2.3:8443/',
      'https://[fd00::1]/',
      'https://8.8.8.8/',
    ],
    ...['http://[::ffff:127.0.0.1]:1/', 'http://receiver.internal:8080/'],
  ]) {
    assert.equal(urlProblem(url, local), undefined, url);
  }
  for (const url of [
    'http://127.0.0.2/',
    'https://10.2.0.1/',
    'https://8.8.8.8:8443/',
    'http://8.8.8.8/',
  ]) {
    assert.notEqual(urlProblem(url, local), undefined, url);
  }
  assert.notEqual(urlProblem('http://127.0.0.1/', allowed('127.0.0.1')), undefined);
  for (const wrong of ['localhost', '10.1', '10.0.0.0/33', '', 'https']) {
    assert.deepEqual(parseAllowedTargets(`127.0.0.1,${wrong}`), { wrong });
  }
});

test('other texts than addresses are not public addresses', () => {
  for (const text of [
    '',
    'localhost',
    '8.8.8',
    '08.8.8.8',
    '8.8.8.8/8',
    ' 8.8.8.8',
    '1.1.1.1%eth0',
  ]) {
    assert.equal(isPublicAddress(text), false, text);
  }
});

/** Looks a name up as a connection does. */
function looksUp(url: string, targets: AllowedTargets, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const parsed = new URL(url);
    guardedLookup(parsed, targets)(parsed.hostname, { all }, (error, address) => {
      if (error === null) resolve(address);
      else reject(error);
    });
  });
}

test('a name that leads into the inner network is refused when the connection is made', async () => {
  for (const all of [true, false]) {
    await assert.rejects(looksUp('https://localhost/', PUBLIC_ONLY, all), {
      name: 'AddressRefused',
    });
  }
  // Resolved by the system, to an address that is neither permitted nor public.
  await assert.rejects(looksUp('https://localhost/', allowed('10.0.0.0/8'), true), {
    name: 'AddressRefused',
  });
  const local = allowed('127.0.0.1,::1,http');
  assert.equal(await looksUp('http://localhost:8080/', local, false), '127.0.0.1');
  const found = (await looksUp('http://localhost:8080/', local, true)) as { address: string }[];
  assert.ok(found.every(({ address }) => ['127.0.0.1', '::1'].includes(address)));
});
