import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { createLogger } from '../../src/telemetry/logger.ts';
import { parseTraceparent, startTraces } from '../../src/telemetry/traces.ts';
import { startService } from '../http/harness.ts';
import { freePort } from '../postgres.ts';
import { serve } from '../process/program.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

/** A span in the JSON of OTLP. */
interface OtlpSpan {
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

const attribute = ({ attributes }: Pick<OtlpSpan, 'attributes'>, key: string) =>
  Object.values(attributes.find((each) => each.key === key)?.value ?? {})[0];

/** A collector that keeps what it gets. */
async function startCollector(t: TestContext) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(await text(request));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const resourceSpans = () => bodies.flatMap((body) => JSON.parse(body).resourceSpans);
  return {
    endpoint: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    resources: () => resourceSpans().map(({ resource }) => resource),
    spans: (): OtlpSpan[] =>
      resourceSpans().flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }: { spans: OtlpSpan[] }) => spans),
      ),
  };
}

test('traceparent is parsed according to W3C Trace Context, and ignored if it is not valid', () => {
  const context = { traceId: TRACE, spanId: PARENT, isSampled: true };
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${PARENT}-01`), context);
  assert.deepEqual(parseTraceparent(`00-${TRACE}-${PARENT}-02`), { ...context, isSampled: false });
  assert.deepEqual(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-comes-later`), context);
  for (const ignored of [
    ...[undefined, '', 'x', `00-${TRACE}-${PARENT}`, `00-${TRACE}-${PARENT}-01-more`],
    ...[`ff-${TRACE}-${PARENT}-01`, `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ...[`00-${'0'.repeat(32)}-${PARENT}-01`, `00-${TRACE}-${'0'.repeat(16)}-01`],
    [`00-${TRACE}-${PARENT}-01`],
  ]) {
    assert.equal(parseTraceparent(ignored), undefined, String(ignored));
  }
});

test('the log has the trace that a request belongs to', async (t) => {
  const { call, log } = await startService(t);
  await call('GET', '/v2/store', { traceparent: `00-${TRACE}-${PARENT}-01` });
  await call('GET', '/v2/store', { traceparent: 'nonsense' });
  const requests = log()
    .split('\n')
    .filter((line) => line.includes('"msg":"request"'));
  assert.deepEqual(
    requests.map((line) => JSON.parse(line).traceId),
    [TRACE, undefined],
  );
});

test('requests are exported as spans, continued from their callers, if an endpoint is set', async (t) => {
  const collector = await startCollector(t);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests',
  };
  const service = await serve(t, [], { env });
  const traceparent = `00-${TRACE}-${PARENT}-01`;
  await service.call('GET', '/v2/store/orders/7?', { traceparent });
  await service.call('GET', '/v2/nothing');
  await service.call('GET', '/v2/store', { traceparent: traceparent.replace(/1$/, '0') });
  assert.equal(await service.stop(), 0);
  const [order, nothing, ...others] = collector.spans();
  assert.deepEqual(others, [], 'what the caller does not sample is not exported');
  assert.deepEqual(
    [order!.name, order!.traceId, order!.parentSpanId, order!.kind],
    ['GET /v2/store/orders/{orderId}', TRACE, PARENT, 2],
  );
  assert.equal(attribute(order!, 'http.route'), '/v2/store/orders/{orderId}');
  assert.equal(attribute(order!, 'http.response.status_code'), 404);
  assert.equal(attribute(order!, 'store_orders.operation'), 'getOrder');
  assert.match(attribute(order!, 'store_orders.key'), /^key_/);
  assert.deepEqual([nothing!.name, nothing!.parentSpanId], ['GET', undefined]);
  const [resource] = collector.resources();
  assert.equal(attribute(resource, 'service.name'), 'store-orders');
  assert.equal(attribute(resource, 'deployment.environment.name'), 'tests');
  assert.match(service.stdout(), new RegExp(`"traceId":"${TRACE}","spanId":"[0-9a-f]{16}"`));
});

test('an unreachable collector delays neither requests nor shutdown, and is logged', async (t) => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
  const service = await serve(t, [], { env: { OTEL_EXPORTER_OTLP_ENDPOINT } });
  assert.equal((await service.call('GET', '/v2/store')).status, 200);
  assert.equal(await service.stop(), 0);
  assert.match(service.stdout(), /"msg":"traces are not exported"/);
});

test('invalid settings of OpenTelemetry are reported, without passwords', async () => {
  const lines: string[] = [];
  const logger = createLogger('trace', { write: (line) => lines.push(line) });
  let failures = 0;
  const started = async (environment: Record<string, string>) => {
    lines.length = 0;
    const traces = await startTraces(environment, logger, () => {
      failures += 1;
    });
    await traces?.close(100);
    return traces !== undefined;
  };
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://user:secret@127.0.0.1:9/?token=secret';
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT };
  assert.equal(await started({}), false);
  assert.equal(await started({ ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }), false);
  assert.equal(await started({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), false);
  assert.equal(await started({ OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' }), false);
  assert.match(lines.join(''), /not an http or https URL/);
  assert.equal(failures, 1);
  assert.equal(await started({ ...endpoint, OTEL_TRACES_SAMPLER: '' }), true);
  assert.match(lines.join(''), /"endpoint":"http:\/\/127.0.0.1:9"/);
  assert.doesNotMatch(lines.join(''), /secret|ignored/);
  for (const name of ['OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG']) {
    assert.equal(await started({ ...endpoint, [name]: 'x' }), true);
    assert.match(lines.join(''), /a setting of OpenTelemetry is ignored/);
  }
});
