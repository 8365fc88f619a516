import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import type { OpenApi, Operation, Parameter } from '../../../protocol/openapi.ts';
import { checkAnswer } from '../../http/contract-check.ts';
import type { Answer, Call } from '../http.ts';
import type { Random } from '../random.ts';
import { bodyOf } from './forbidden-keys.ts';
import { sendMany } from './send-many.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const REQUESTS = 20_000;
/** Of scripts, whose responses have more headers. */
const ORIGIN = 'https://shop.example';

/** Every operation with values that its parameters and fields do not have, and some that they have in another place. */
export const oddValues: Attack = {
  name: `${REQUESTS} requests with odd values in every parameter and field`,
  mustHold: 'each response is one that the contract has, and none is 5xx',
  make: async ({ folder, random }) => {
    const { server, secret } = await serveNew(folder, 100, { CORS_ORIGINS: ORIGIN });
    const operations = operationsOf(['v1', 'v2']);
    const next = () => oddCall(random.pick(operations), random);
    const measured = await sendMany({
      port: server.port,
      secret,
      count: REQUESTS,
      next,
      problemOf,
    });
    await server.stop();
    return measured;
  },
};

interface Asked {
  readonly method: string;
  /** With the names of parameters in braces. */
  readonly template: string;
  readonly parameters: readonly Parameter[];
}

/** The operations of some versions; not streams, which do not end. */
function operationsOf(versions: readonly string[]): Asked[] {
  return versions.flatMap((version) => {
    const url = new URL(`../../../contract/${version}.yaml`, import.meta.url);
    const { paths, components } = load(readFileSync(url, 'utf8')) as OpenApi;
    const parametersOf = ({ parameters = [] }: Operation) =>
      parameters.map((each) =>
        '$ref' in each ? components.parameters![each.$ref.split('/').at(-1)!]! : each,
      );
    return Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { operationId }]) => operationId !== 'streamChanges')
        .map(([method, operation]) => ({
          ...{ method: method.toUpperCase(), template: `/${version}${path}` },
          parameters: parametersOf(operation),
        })),
    );
  });
}

function oddCall({ method, template, parameters }: Asked, random: Random): Call {
  const headers: Record<string, string> = { 'idempotency-key': String(random.next()) };
  if (random.chance(0.3)) headers['x-request-id'] = random.pick(NAMES);
  if (random.chance(0.3)) headers.origin = random.pick([ORIGIN, 'null', 'https://other.example']);
  const query: string[] = [];
  let path = template;
  for (const { in: place, name, schema } of parameters) {
    const value = random.pick([...ODD, ...(schema.enum ?? [])]);
    if (place === 'path')
      path = path.replace(`{${name}}`, inUrl(random.pick([value, '5']), random));
    else if (random.chance(0.5)) continue;
    else if (place === 'query') query.push(`${name}=${inUrl(value, random)}`);
    else headers[name] = random.pick(ODD_HEADERS);
  }
  const body = bodyOf(method, template);
  return {
    ...{ method, headers, path: query.length === 0 ? path : `${path}?${query.join('&')}` },
    ...(body !== undefined && { body: oddBody(body, random) }),
  };
}

/** As it is, if a URL can have it. */
function inUrl(value: string, random: Random): string {
  return /^[!-~]+$/.test(value) && !/[/?#&]/.test(value) && random.chance(0.5)
    ? value
    : encodeURIComponent(value.toWellFormed());
}

/** JSON in which one value is another one, or with one more field, or that ends early. */
function oddBody(body: string, random: Random): string {
  const values = [...body.matchAll(/(?<=:)("[^"]*"|\d+|\[.*\])/g)];
  const { index, 0: text } = random.pick(values.length === 0 ? [/$/.exec(body)!] : values);
  const odd = random.pick(ODD_JSON);
  switch (random.below(8)) {
    case 0:
      return body.slice(0, random.below(body.length));
    case 1:
      return `${body.slice(0, -1)},"${random.pick(['quantity', 'atomic', 'x', '__proto__'])}":${odd}}`;
    case 2:
      return odd;
    default:
      return body.slice(0, index) + odd + body.slice(index + text.length);
  }
}

const CURSOR = `1-${'0'.repeat(64)}`;

const ODD = [
  ...['', ' ', '0', '-0', '00', '5', '+5', '5.0', '1e3', '-1', '0x5', 'NaN', 'null', 'true', '٥'],
  ...['2147483648', '9007199254740993', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '9'.repeat(400)],
  ...['2026-11-24T00:00:00Z', '2026-02-30T00:00:00Z', '2026-11-24T24:00:00Z'],
  ...['2026-11-24T23:59:60Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z'],
  ...['2026-11-24T00:00:00+99:99', '2026-11-24t00:00:00z', '+275760-09-13T00:00:00Z', '2026-11-24'],
  ...['2026-11-21T00:00:00Z,2026-11-22T00:00:00Z', '2026-11-22T00:00:00Z,2026-11-21T00:00:00Z'],
  ...['start', 'now', CURSOR, `${CURSOR}0`, CURSOR.toUpperCase(), `0${CURSOR}`, `-${CURSOR}`],
  ...[`9223372036854775807-${'f'.repeat(64)}`, 'MS0w', 'eyJhIjoxfQ', `${'A'.repeat(300)}==`],
  ...['pending', 'pending,pending', ',', 'pending,', 'PENDING', 'id', 'asc', 'placed', 'key_0'],
  ...['%', '%00', '%FF', '%C3%28', '%ED%A0%80', '\0', 'a\0b', '\n', '\u2028', '\ud800', '🐶'],
  ...["'", '"', '\\', ';', '..', '../..', '*', '%25', "' OR 1=1 --", '$1', '{}', '[]', '<a>'],
  ...['x'.repeat(255), '🐶'.repeat(255), 'x'.repeat(4_000)],
];

const ODD_HEADERS = [
  ...ODD.filter((each) => /^[\t -~\x80-\xff]*$/.test(each)),
  ...['""', '"', '"a"', 'W/"a"', 'W/', '"a","b"', '"a", W/"b"', '"a" "b"', ',', ',,', '"a",'],
  ...['*, "a"', '"\x80\xff"', `"${'a'.repeat(2_000)}"`, Array(500).fill('"a"').join(',')],
];

/** Names that responses have, as values; a request id is repeated in its response. */
const NAMES = [
  ...['vary', 'Vary', 'etag', 'date', 'connection', 'content-length', 'transfer-encoding'],
  ...['x-request-id', 'x-content-type-options', 'location', 'origin', '__proto__', 'constructor'],
];

const ODD_JSON = [
  ...['null', 'true', '0', '-0', '5.0', '1e3', '1e400', '-1', '9223372036854775808', '[]', '{}'],
  ...['"\\u0000"', '"\\ud800"', '"\\ud800\\u0041"', '"\\uFFFF"', '[null]', '[{}]', '[{"id":5}]'],
  ...['[{"id":5},{"id":5}]', '[{"id":"5"}]', '[{"id":5,"etag":"x"}]', '[[[[[[]]]]]]', "'a'", 'NaN'],
  ...['{"__proto__":{}}', '{"constructor":1}', '01', '.5', '5.', '+5', '1_000', '"\t"', '', ' '],
  ...ODD.map((each) => JSON.stringify(each)),
];

function problemOf({ method, path }: Call, answer: Answer): string | undefined {
  if (answer.status >= 500) return 'a failure';
  try {
    checkAnswer(method, path, '', answer);
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[0];
  }
}
