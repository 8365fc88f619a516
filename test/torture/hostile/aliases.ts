import { Agent } from 'node:http';
import { send } from '../http.ts';
import type { Random } from '../random.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const PATHS = 30_000;
const AT_ONCE = 16;
const LIMIT_MS = 10_000;
/** The order that no other name may reach. */
const ORDER = '5';

/** Paths that other programs could take for that of an order. */
export const aliases: Attack = {
  name: `${PATHS} other spellings of the path and the id of an order`,
  mustHold: 'none reaches the order, and none is answered 5xx',
  make: async ({ folder, random }) => {
    const { server, secret } = await serveNew(folder, 10);
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const sending = { port: server.port, agent, limitMs: LIMIT_MS };
    const wrong: string[] = [];
    const statuses = new Map<number, number>();
    let left = PATHS;
    const client = async () => {
      while (left > 0) {
        left -= 1;
        const path = aliasOf(random);
        const method = random.pick(['GET', 'DELETE', 'POST']);
        const { status } = await send(sending, { method, path, secret });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status < 400 || status >= 500) wrong.push(`${method} ${path} was answered ${status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    const path = `/v1/store/orders/${ORDER}`;
    const { status } = await send(sending, { method: 'DELETE', path, secret });
    if (status !== 204) wrong.push(`the order itself was answered ${status}`);
    agent.destroy();
    await server.stop();
    const found = [...statuses].map(([status, times]) => `${status} ${times} times`).join(', ');
    return {
      figures: wrong.length === 0 ? found : wrong.slice(0, 3).join('; '),
      isKept: wrong.length === 0,
    };
  },
};

/** Returns a path that is not one of the order's. Percent-encoded digits are the digits themselves (RFC 3986), and are left out. */
function aliasOf(random: Random): string {
  const id = random.pick(IDS)(random);
  const paths = ['/v1/store/orders/', '/v2/store/orders/'];
  const path = random.pick(paths);
  const verb = path.startsWith('/v2') ? random.pick(['', '/cancel', '/ship', '/history']) : '';
  if (random.chance(0.5)) return `${path}${id}${verb}`;
  const other = random.pick(PATH_CHANGES)(path, random);
  return `${other}${ORDER}${verb}`;
}

const IDS: readonly ((random: Random) => string)[] = [
  (random) => '0'.repeat(1 + random.below(30)) + ORDER,
  () => `+${ORDER}`,
  () => `-0${ORDER}`,
  (random) => `${ORDER}.${'0'.repeat(random.below(4))}`,
  (random) => `${ORDER}e${random.pick(['0', '+0', '-0'])}`,
  (random) => `0${random.pick(['x', 'X', 'o', 'b'])}${ORDER}`,
  (random) =>
    ORDER + random.pick(['%20', '%00', '%09', '%0a', '%0d%0a', '%2f', '%3f', '%23', '%3b', '%5c']),
  (random) => random.pick(['%20', '%00', '%2b', '%2f', '%e2%80%8b']) + ORDER,
  (random) =>
    ORDER +
    random.pick([';', ';v=1', ',', "'", '"', '/', '//', '/.', '/..', '.json', '_', 'n', 'L']),
  (random) =>
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
  (random) => String((1n << BigInt(64 + random.below(64))) + BigInt(ORDER)),
  (random) => `${'9'.repeat(19 + random.below(200))}`,
  (random) => {
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
