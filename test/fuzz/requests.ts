import { gzipSync } from 'node:zlib';
import type { Random } from '../torture/random.ts';
import type { Step } from './step.ts';

/** What a script needs to know about the store under test. */
export interface Target {
  readonly secret: string;
  /** A pending order that no other step uses. */
  readonly newOrder: () => number;
}

/** The first bytes of a TLS connection. */
export const JUNK = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

/** 10 MB of zeros, as the bytes of a latin1 string. */
const BOMB = gzipSync(Buffer.alloc(10_000_000)).toString('latin1');

export type Requests = ReturnType<typeof requests>;

export function requests(random: Random, { secret, newOrder }: Target) {
  const key = `Authorization: Bearer ${secret}\r\n`;
  const head = (line: string, ...headers: string[]) =>
    `${line}\r\nHost: x\r\n${key}${headers.map((each) => `${each}\r\n`).join('')}\r\n`;
  const orders = '/v1/store/orders';
  const v2 = (path: string) => head(`GET /v2/store/${path} HTTP/1.1`);
  const post = (...headers: string[]) =>
    head(`POST /v2/store/orders HTTP/1.1`, `Idempotency-Key: ${random.below(2 ** 31)}`, ...headers);
  /** A placement, framed by its length or in chunks. */
  const placement = (body: string, type = 'application/json') => {
    const typed = `Content-Type: ${type}`;
    if (random.chance(0.5)) return `${post(typed, `Content-Length: ${body.length}`)}${body}`;
    const middle = Math.ceil(body.length / 2);
    const parts = [body.slice(0, middle), body.slice(middle)].filter((part) => part !== '');
    const chunks = [...parts, ''];
    const framed = chunks.map((each) => `${each.length.toString(16)}\r\n${each}\r\n`);
    return `${post(typed, 'Transfer-Encoding: chunked')}${framed.join('')}`;
  };
  /** A request with a JSON body. */
  const posted = (path: string, body: string) => {
    const name = path.replace('../', '');
    const target = path === name ? `/v2/store/${name}` : `/v2/${name}`;
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    return head(`POST ${target} HTTP/1.1`, 'Content-Type: application/json', length) + body;
  };
  const get = (...headers: string[]) => head(`GET ${orders} HTTP/1.1`, ...headers);
  const remove = (id: number, ...headers: string[]) =>
    head(`DELETE ${orders}/${id} HTTP/1.1`, ...headers);
  const refused = (name: string, status: number, bytes: string): Step => {
    return { name, bytes, statuses: [status], closes: true };
  };
  /** A cancel that must not happen. */
  const broken = (name: string, status: number, ...headers: string[]): Step =>
    refused(name, status, remove(newOrder(), ...headers));

  return {
    list: (): Step => ({ name: 'list', bytes: get(), statuses: [200], body: 'list' }),
    gzip: (): Step => {
      const bytes = get('Accept-Encoding: gzip');
      return { name: 'gzip list', bytes, statuses: [200], body: 'gzip' };
    },
    unchanged: (): Step => ({ name: '304', bytes: get('If-None-Match: *'), statuses: [304] }),
    head: (): Step => {
      const bytes = head(`HEAD ${orders} HTTP/1.1`);
      return { name: 'HEAD', bytes, statuses: [200], body: 'none' };
    },
    cancel: (): Step => {
      const cancels = newOrder();
      return { name: `cancel ${cancels}`, bytes: remove(cancels), statuses: [204], cancels };
    },
    cancelWithBody: (): Step => {
      const cancels = newOrder();
      const expect = random.chance(0.3) ? ['Expect: 100-continue'] : [];
      const bytes = random.chance(0.5)
        ? `${remove(cancels, ...expect, 'Content-Length: 5')}hello`
        : `${remove(cancels, ...expect, 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`;
      return { name: `cancel ${cancels} with a body`, bytes, statuses: [204], cancels };
    },
    noKey: (): Step => {
      return {
        name: 'no key',
        bytes: `GET ${orders} HTTP/1.1\r\nHost: x\r\n\r\n`,
        statuses: [401],
      };
    },
    notFound: (): Step => {
      return { name: 'unknown path', bytes: head('GET /v1/nowhere HTTP/1.1'), statuses: [404] };
    },
    wrongMethod: (): Step => {
      return { name: 'PUT', bytes: head(`PUT ${orders} HTTP/1.1`), statuses: [405] };
    },
    cancelV2: (): Step => {
      const cancels = newOrder();
      const bytes = head(`POST /v2/store/orders/${cancels}/cancel HTTP/1.1`);
      return { name: `v2 cancel ${cancels}`, bytes, statuses: [200], cancels };
    },
    place: (): Step => {
      const bytes = placement('{"petId":9007199254740993,"quantity":2}');
      return { name: 'place', bytes, statuses: [201], places: true };
    },
    placeInvalid: (): Step => {
      const body = random.pick(['{"petId":5.0}', '{"petId":1,"petId":1}', '{', '[]', '\x00', '""']);
      return { name: `place ${body}`, bytes: placement(body), statuses: [400] };
    },
    placeOtherType: (): Step => {
      return { name: 'place text', bytes: placement('{}', 'text/plain'), statuses: [415] };
    },
    page: (): Step => {
      const path = random.pick([
        'orders?limit=3',
        'orders?status=shipped',
        'changes?limit=2',
        'counts',
      ]);
      return { name: path, bytes: v2(path), statuses: [200] };
    },
    pageInvalid: (): Step => {
      const path = random.pick(['orders?limit=0', 'orders?a=1', 'changes?after=x']);
      return { name: path, bytes: v2(path), statuses: [400] };
    },
    /** Several orders in one transaction; the second one does not exist. */
    cancelSeveral: (): Step => {
      const cancels = newOrder();
      const body = `{"orders":[{"id":${cancels}},{"id":9223372036854775807}]}`;
      return {
        name: `cancel ${cancels} of several`,
        bytes: posted('orders/cancel', body),
        statuses: [200],
        cancels,
      };
    },
    /** One of the orders does not exist, so none is cancelled. */
    cancelAllOrNone: (): Step => {
      const body = `{"orders":[{"id":${newOrder()}},{"id":9223372036854775807}],"atomic":true}`;
      return { name: 'cancel all or none', bytes: posted('orders/cancel', body), statuses: [409] };
    },
    severalInvalid: (): Step => {
      const path = random.pick(['orders/cancel', 'orders/ship']);
      const id = newOrder();
      const body = random.pick([
        ...[
          '',
          '{}',
          '[]',
          '{"orders":[]}',
          '{"orders":{}}',
          `{"orders":[${id}]}`,
          `{"orders":[{"id":"${id}"}]}`,
        ],
        ...[
          `{"orders":[{"id":${id}.0}]}`,
          `{"orders":[{"id":${id},"id":${id}}]}`,
          `{"orders":[{"id":1e400}]}`,
        ],
        ...[
          `{"orders":[{"id":${id}}],"force":true}`,
          `{"orders":[${'{"id":1},'.repeat(1_000)}{"id":1}]}`,
        ],
        `${'['.repeat(20_000)}`,
      ]);
      return { name: `${path} ${body.slice(0, 40)}`, bytes: posted(path, body), statuses: [400] };
    },
    /** A body that would be 10 MB. */
    compressed: (): Step => {
      const bytes = head(
        'POST /v2/store/orders HTTP/1.1',
        ...['Idempotency-Key: bomb', 'Content-Type: application/json', 'Content-Encoding: gzip'],
        `Content-Length: ${BOMB.length}`,
      );
      return { name: 'compressed body', bytes: bytes + BOMB, statuses: [415] };
    },
    webhookInvalid: (): Step => {
      const url = random.pick([
        'http://127.0.0.1/',
        'https://127.0.0.1/',
        'https://[::1]/',
        'file:///etc/passwd',
        'https://a@b/',
      ]);
      const body = random.pick([
        `{"url":"${url}"}`,
        '{"url":5}',
        '{',
        '{"url":"https://a.example/","secret":"x"}',
      ]);
      return { name: `webhook ${body}`, bytes: posted('../webhooks', body), statuses: [400] };
    },
    webhooks: (): Step => {
      const bytes = head('GET /v2/webhooks HTTP/1.1');
      return { name: 'webhooks', bytes, statuses: [200] };
    },
    webhookUnknown: (): Step => {
      const [method, path] = random.pick([
        ['DELETE', ''],
        ['POST', '/test'],
        ['POST', '/rotate-secret'],
      ] as const);
      const bytes = head(`${method} /v2/webhooks/wh_${random.below(2 ** 31)}${path} HTTP/1.1`);
      return { name: `${method} an unknown webhook`, bytes, statuses: [404] };
    },
    /** Files for browsers need no key. */
    file: (): Step => {
      const path = random.pick(['/console', '/reference', '/favicon.ico', '/openapi/v2.json']);
      const coding = random.pick(['', 'Accept-Encoding: gzip\r\n', 'Accept-Encoding: br\r\n']);
      const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n${coding}\r\n`;
      return { name: path, bytes, statuses: [200] };
    },
    fileUnknown: (): Step => {
      const path = random.pick([
        '/console/../v1',
        '/console/%2e%2e/x',
        '/reference/x',
        '/console/0/app.js',
        '/%00',
      ]);
      const bytes = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
      return { name: `unknown ${path}`, bytes, statuses: [400, 404] };
    },
    streamHead: (): Step => {
      const bytes = head('HEAD /v2/store/changes/stream HTTP/1.1');
      return { name: 'HEAD of a stream', bytes, statuses: [200, 503], closes: true, body: 'none' };
    },
    streamInvalid: (): Step => {
      const query = random.pick(['after=x', 'after=now&after=now', 'type=placed,lost', 'limit=1']);
      return { name: `stream ${query}`, bytes: v2(`changes/stream?${query}`), statuses: [400] };
    },

    /** It has no end: the client closes the connection. */
    stream: (): Step => {
      const bytes = v2(
        random.pick([
          ...Array<string>(6).fill('changes/stream?after=now'),
          ...Array<string>(5).fill('changes/stream?type=cancelled'),
          // All orders of the store are sent: some such streams at once use the whole processor, and others may be answered 503.
          'changes/stream',
        ]),
      );
      return { name: 'stream', bytes, statuses: [200, 503], closes: true, body: 'stream' };
    },
    upgrade: (): Step => {
      const bytes = get('If-None-Match: *', 'Connection: Upgrade', 'Upgrade: websocket');
      return { name: 'Upgrade', bytes, statuses: [304], closes: true };
    },
    closing: (): Step => {
      const cancels = newOrder();
      const bytes = remove(cancels, 'Connection: close');
      return { name: `cancel ${cancels} and close`, bytes, statuses: [204], closes: true, cancels };
    },
    http10: (): Step => {
      const cancels = newOrder();
      const bytes = head(`DELETE ${orders}/${cancels} HTTP/1.0`);
      return { name: `cancel ${cancels} 1.0`, bytes, statuses: [204], closes: true, cancels };
    },
    closingList: (): Step => {
      return {
        name: 'list and close',
        bytes: get('Connection: close'),
        statuses: [200],
        closes: true,
        body: 'list',
      };
    },
    connect: (): Step => refused('CONNECT', 400, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
    connectWithBody: (): Step => {
      const bytes = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc';
      return refused('CONNECT with an incomplete body', 400, bytes);
    },
    otherVersion: (): Step => {
      const version = random.pick(['0.9', '2.0']);
      return refused(
        `HTTP/${version}`,
        505,
        head(`DELETE ${orders}/${newOrder()} HTTP/${version}`),
      );
    },
    twoLengths: (): Step => {
      const headers = ['Content-Length: 5', 'Transfer-Encoding: chunked'];
      return { ...broken('length and chunks', 400, ...headers), isUnreadable: true };
    },
    twoHosts: (): Step => broken('two Hosts', 400, 'Host: y'),
    brokenChunk: (): Step => {
      const step = broken('broken chunk', 400, 'Transfer-Encoding: chunked');
      return { ...step, bytes: `${step.bytes}zz\r\n` };
    },
    upgradeWithBody: (): Step => {
      const headers = ['Connection: Upgrade', 'Upgrade: x', 'Transfer-Encoding: chunked'];
      const step = broken('Upgrade with broken chunks', 400, ...headers);
      return { ...step, bytes: `${step.bytes}zz\r\n` };
    },
    expectation: (): Step => broken('expectation', 417, 'Expect: miracles'),
    largeBody: (): Step => {
      const step = broken('large body', 413, 'Content-Length: 2000000');
      return { ...step, bytes: step.bytes + 'x'.repeat(random.below(300_000)) };
    },
    largeHeader: (): Step => {
      return { ...broken('large header', 431, `A: ${'x'.repeat(40_000)}`), isUnreadable: true };
    },
    longUrl: (): Step => refused('long URL', 414, head(`GET /${'x'.repeat(9_000)} HTTP/1.1`)),
    placeTooLarge: (): Step => {
      const bytes = post('Content-Type: application/json', 'Content-Length: 70000');
      return refused('large placement', 413, `${bytes}${'x'.repeat(random.below(70_000))}`);
    },
    placeBrokenChunk: (): Step => {
      const bytes = post('Content-Type: application/json', 'Transfer-Encoding: chunked');
      return refused('place in broken chunks', 400, `${bytes}2\r\n{}\r\nzz\r\n`);
    },
    incompletePlacement: (): Step => {
      const bytes = post('Content-Type: application/json', 'Content-Length: 9');
      return incomplete('incomplete placement', `${bytes}{"p`);
    },
    junk: (): Step => ({ ...refused('junk', 400, JUNK), isUnreadable: true }),
    incompleteHead: (): Step => {
      const bytes = remove(newOrder());
      return incomplete('incomplete head', bytes.slice(0, 1 + random.below(bytes.length - 2)));
    },
    incompleteBody: (): Step =>
      incomplete('incomplete body', `${remove(newOrder(), 'Content-Length: 9')}abc`),
  };
}

/** A request that is never completed; answered, if at all, when it times out or the client closes. */
function incomplete(name: string, bytes: string): Step {
  return { name, bytes, statuses: [400, 408], isOptional: true, closes: true };
}
