import type { Random } from './random.ts';

/** A request, or bytes that are not one, and the response that the contract requires. */
export interface Step {
  readonly name: string;
  readonly bytes: string;
  /** The permitted statuses of the response; empty if there must be none. */
  readonly statuses: readonly number[];
  /** It may get no response: incomplete, or malformed after a request that is still being answered. */
  readonly isOptional?: boolean;
  /** The parser cannot read it as a request. */
  readonly isUnreadable?: boolean;
  /** The connection is closed after the response, and later bytes have no effect. */
  readonly closes?: boolean;
  /** The order that is cancelled if and only if the response is 200 or 204. */
  readonly cancels?: number;
  /** A 201 has the order that was placed. */
  readonly places?: true;
  /** The expected body of a 200. */
  readonly body?: 'list' | 'gzip' | 'none';
}

export interface Script {
  readonly index: number;
  readonly steps: readonly Step[];
  /** How the bytes are sent: all at once, in a few pieces, or in many small ones. */
  readonly delivery: 'whole' | 'pieces' | 'dribble';
  /**
   * What the client does next. read: reads all responses. halfClose: closes its side first. reset: resets the
   * connection. stall: stops reading for a while, then reads all. flood: sends junk before it reads.
   */
  readonly ending: 'read' | 'halfClose' | 'reset' | 'stall' | 'flood';
  /** Milliseconds before a reset, or of a stall. */
  readonly delayMs: number;
  /** Bytes that the client reads before it stalls. */
  readonly stallAt: number;
}

const MAX_STEPS = 6;
/** Longer than a request may wait for the store. */
const LONG_STALL_MS = 2_300;

/** What a script needs to know about the store under test. */
export interface Target {
  readonly secret: string;
  /** A pending order that no other step uses. */
  readonly newOrder: () => number;
}

/** The script of one connection; the same for the same seed and order of calls. */
export function scriptOf(index: number, random: Random, target: Target): Script {
  const ending = random.pick(ENDINGS);
  const steps = stepsOf(random, target, ending);
  const isLong = ending === 'stall' && random.chance(0.3);
  return {
    index,
    steps,
    delivery: random.pick(['whole', 'whole', 'pieces', 'dribble'] as const),
    ending,
    delayMs: isLong ? LONG_STALL_MS : random.pick([0, 0, 1, 5, 20, 60]),
    stallAt: random.chance(0.5) ? 0 : random.below(2_000_000),
  };
}

const ENDINGS = [
  ...Array<Script['ending']>(12).fill('read'),
  ...Array<Script['ending']>(8).fill('reset'),
  ...Array<Script['ending']>(4).fill('halfClose'),
  ...(['stall', 'flood'] as const),
];

function stepsOf(random: Random, target: Target, ending: Script['ending']): Step[] {
  const request = requests(random, target);
  // These two need a response that does not fit into the buffers of the system.
  const steps = ending === 'stall' || ending === 'flood' ? [request.list()] : [];
  if (ending === 'flood') return [...steps, after(steps, request.junk())];
  const count = 1 + random.below(MAX_STEPS);
  while (steps.length < count) steps.push(random.pick(VALID)(request));
  if (random.chance(0.5)) return steps;
  if (random.chance(0.5)) steps.pop();
  const last = after(steps, random.pick(LAST)(request));
  steps.push(last);
  if (!isIncomplete(last) && random.chance(0.5)) {
    steps.push({ name: 'cancel after the end', bytes: request.cancel().bytes, statuses: [] });
  }
  return steps;
}

/** Unreadable bytes get no response of their own while an earlier request still waits for one. */
function after(steps: readonly Step[], last: Step): Step {
  return steps.length > 0 && last.isUnreadable ? { ...last, isOptional: true } : last;
}

/** Whether later bytes would be read as the rest of this step. */
function isIncomplete({ name }: Step): boolean {
  return name.startsWith('incomplete') || name.startsWith('large');
}

/** The first bytes of a TLS connection. */
export const JUNK = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

type Requests = ReturnType<typeof requests>;

function requests(random: Random, { secret, newOrder }: Target) {
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
        'summary',
      ]);
      return { name: path, bytes: v2(path), statuses: [200] };
    },
    pageInvalid: (): Step => {
      const path = random.pick(['orders?limit=0', 'orders?a=1', 'changes?after=x']);
      return { name: path, bytes: v2(path), statuses: [400] };
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

const VALID: readonly ((request: Requests) => Step)[] = [
  ...Array<(request: Requests) => Step>(10).fill((request) => request.cancel()),
  ...Array<(request: Requests) => Step>(5).fill((request) => request.cancelWithBody()),
  ...Array<(request: Requests) => Step>(8).fill((request) => request.unchanged()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.gzip()),
  ...Array<(request: Requests) => Step>(3).fill((request) => request.cancelV2()),
  ...Array<(request: Requests) => Step>(4).fill((request) => request.place()),
  ...Array<(request: Requests) => Step>(2).fill((request) => request.page()),
  (request) => request.placeInvalid(),
  (request) => request.placeOtherType(),
  (request) => request.pageInvalid(),
  (request) => request.list(),
  (request) => request.head(),
  (request) => request.noKey(),
  (request) => request.notFound(),
  (request) => request.wrongMethod(),
];

const LAST: readonly ((request: Requests) => Step)[] = [
  (request) => request.upgrade(),
  (request) => request.closing(),
  (request) => request.closingList(),
  (request) => request.http10(),
  (request) => request.connect(),
  (request) => request.connect(),
  (request) => request.connectWithBody(),
  (request) => request.otherVersion(),
  (request) => request.twoLengths(),
  (request) => request.twoHosts(),
  (request) => request.brokenChunk(),
  (request) => request.upgradeWithBody(),
  (request) => request.expectation(),
  (request) => request.largeBody(),
  (request) => request.largeHeader(),
  (request) => request.longUrl(),
  (request) => request.junk(),
  (request) => request.incompleteHead(),
  (request) => request.incompleteBody(),
  (request) => request.placeTooLarge(),
  (request) => request.placeBrokenChunk(),
  (request) => request.incompletePlacement(),
];
