import { Agent } from 'node:http';
import { succeed } from '../command.ts';
import { type Call, send } from '../http.ts';
import type { Random } from '../random.ts';
import { sendMany } from './send-many.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const REQUESTS = 30_000;
const LIMIT_MS = 10_000;
/** The orders and pets that no other name may reach: ids are int64. */
const ORDERS = ['5', '0', '-7'];

/** Paths, queries and bodies that other programs could take for those of an order. */
export const aliases: Attack = {
  name: `${REQUESTS} other spellings of the path and the id of an order`,
  mustHold: 'none reaches the order, and none is answered 5xx',
  make: async ({ folder, random }) => {
    const { server, secret, database } = await serveNew(folder, 10);
    const others = ORDERS.filter((id) => id !== '5').map((id) => `{"id":${id},"petId":${id}}`);
    await succeed(['import', '-', '--database', database], { input: others.join('\n') });
    const measured = await sendMany({
      port: server.port,
      secret,
      count: REQUESTS,
      next: () => aliasOf(random.pick(ORDERS), random),
      problemOf: (_call, { status }) =>
        status < 400 || status >= 500 ? 'an alias, or a failure' : undefined,
    });
    const lost: string[] = [];
    const sending = { port: server.port, agent: new Agent(), limitMs: LIMIT_MS };
    for (const order of ORDERS) {
      const path = `/v1/store/orders/${order}`;
      const { status } = await send(sending, { method: 'DELETE', path, secret });
      if (status !== 204) lost.push(`the order ${order} itself was answered ${status}`);
    }
    await server.stop();
    const figures = [measured.figures, ...lost].join('; ');
    return { figures, isKept: measured.isKept && lost.length === 0 };
  },
};

/** Returns a request that is none for the order or its pet. Percent-encoded digits are the digits themselves (RFC 3986), and are left out. */
function aliasOf(order: string, random: Random): Call {
  const alias = random.pick(IDS)(order, random);
  switch (random.below(6)) {
    case 0:
      return { method: 'GET', path: `/v2/store/${random.pick(READS)}?petId=${alias}` };
    case 1: {
      const path = `/v2/store/orders/${random.pick(['cancel', 'ship'])}`;
      const id = random.pick(NUMBERS)(order);
      return { method: 'POST', path, body: `{"orders":[{"id":${id}}]}` };
    }
    case 2:
    case 3: {
      const [path, verb] = aPath(random);
      return { method: random.pick(METHODS), path: `${path}${alias}${verb}` };
    }
    default: {
      const [path, verb] = aPath(random);
      const other = random.pick(PATH_CHANGES)(path, random);
      return { method: random.pick(METHODS), path: `${other}${order}${verb}` };
    }
  }
}

const METHODS = ['GET', 'DELETE', 'POST'];
/** What can be filtered by pet. */
const READS = ['orders', 'counts', 'changes'];

/** What comes before and after the id of an order. */
function aPath(random: Random): [path: string, verb: string] {
  const path = random.pick(['/v1/store/orders/', '/v2/store/orders/']);
  const verbs = path.startsWith('/v2') ? ['', '/cancel', '/ship', '/history'] : [''];
  return [path, random.pick(verbs)];
}

/** JSON that other programs could take for the number. */
const NUMBERS: readonly ((order: string) => string)[] = [
  (order) => `${order}.0`,
  (order) => `${order}e0`,
  (order) => `${order}E+0`,
  (order) => `${order}0e-1`,
  (order) => `${order}.00000000000000000001`,
  (order) => `"${order}"`,
  (order) => `[${order}]`,
  (order) => `0${order}`,
  (order) => `+${order}`,
  (order) => `0x${order}`,
  (order) => (order === '0' ? '-0' : `-0${order}`),
  (order) => String((1n << 64n) + BigInt(order)),
  (order) => String(BigInt(order) - (1n << 64n)),
];

const IDS: readonly ((order: string, random: Random) => string)[] = [
  (order, random) => '0'.repeat(1 + random.below(30)) + order,
  (order) => `+${order}`,
  (order) => `-0${order}`,
  (order) => (order === '0' ? '-0' : `--${order}`),
  (order, random) => `${order}.${'0'.repeat(random.below(4))}`,
  (order, random) => `${order}e${random.pick(['0', '+0', '-0'])}`,
  (order, random) => `0${random.pick(['x', 'X', 'o', 'b'])}${order}`,
  (order, random) =>
    order + random.pick(['%20', '%00', '%09', '%0a', '%0d%0a', '%2f', '%3f', '%23', '%3b', '%5c']),
  (order, random) => random.pick(['%20', '%00', '%2b', '%2f', '%e2%80%8b']) + order,
  (order, random) =>
    order +
    random.pick([';', ';v=1', ',', "'", '"', '/', '//', '/.', '/..', '.json', '_', 'n', 'L']),
  (_order, random) =>
    random.pick([
      '%EF%BC%95',
      '%D9%A5',
      '%E0%A5%AB',
      '%c0%b5',
      '%u0035',
      '%2535',
      '%',
      '%3',
      '%zz',
    ]),
  (order, random) => String((1n << BigInt(64 + random.below(64))) + BigInt(order)),
  (_order, random) => `${'9'.repeat(19 + random.below(200))}`,
  (_order, random) => {
    const length = 1 + random.below(40);
    return `${Array.from({ length }, () => random.pick([...'5%0/.;+-eE_~@:'])).join('')}x`;
  },
];

const PATH_CHANGES: readonly ((path: string, random: Random) => string)[] = [
  (path) => path.toUpperCase(),
  (path) => path.replace('store', 'Store'),
  (path, random) =>
    path.replace(
      '/store',
      random.pick(['//store', '/./store', '/x/../store', '/%2e/store', '\\store', '/store;a']),
    ),
  (path, random) =>
    path.replace(
      'orders/',
      random.pick([
        'orders//',
        'orders/./',
        'orders%2f',
        'orders/../orders/',
        'order/',
        'orders;/',
      ]),
    ),
  (path, random) => random.pick(['/', '//', '/.', '/v1', '/api']) + path,
  (path) => path.replace(/^\/v\d/, (version) => `${version}.0`),
];
