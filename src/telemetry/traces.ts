import type { Attributes, Span } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { within } from '../store/within.ts';
import { VERSION } from '../version.ts';
import { parseTraceparent } from './trace-context.ts';

/** The variables of OpenTelemetry that are read here; the exporter reads its own. */
type Environment = Readonly<Partial<Record<string, string>>>;

/** How long a stop waits for the last spans. */
const CLOSE_WITHIN_MS = 2_000;
/** Between two log lines that say that spans are lost. */
const SAY_LOST_EVERY_MS = 60_000;

/** Makes a span of each request, and exports them over OTLP. */
export interface Traces {
  /** Begins the span of a request that has arrived. */
  readonly begin: (request: RequestToTrace) => RequestSpan;
  /** Exports what is left, as far as that is possible in CLOSE_WITHIN_MS. */
  readonly close: () => Promise<void>;
}

export interface RequestToTrace {
  readonly method: string;
  /** Without the query, and without secrets. */
  readonly path: string;
  /** The template of the path, as in the contract; undefined if no route matched. */
  readonly route: string | undefined;
  readonly client: string | undefined;
  readonly traceparent: string | readonly string[] | undefined;
}

export interface RequestSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** @param status undefined if the client left before the response */
  readonly end: (status: number | undefined, attributes: Attributes) => void;
}

/** Returns undefined unless an endpoint is set; the packages of OpenTelemetry are loaded only then. */
export async function startTraces(
  environment: Environment,
  logger: Logger,
): Promise<Traces | undefined> {
  const endpoint =
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || environment.OTEL_SDK_DISABLED === 'true') return undefined;
  const api = await import('@opentelemetry/api');
  const sayLost = lossesTo(logger);
  const listeners = { error: sayLost, warn: sayLost, info() {}, debug() {}, verbose() {} };
  const logLevel = api.DiagLogLevel.WARN;
  api.diag.setLogger(listeners, { logLevel, suppressOverrideMessage: true });
  const provider = await newProvider(environment);
  const tracer = provider.getTracer('store-orders', VERSION);
  logger.info({ endpoint }, 'exporting traces');
  return {
    begin: (request) => {
      const { method, route } = request;
      const name = route === undefined ? method : `${method} ${route}`;
      const options = { kind: api.SpanKind.SERVER, attributes: attributesOf(request) };
      const span = tracer.startSpan(name, options, contextOf(api, request.traceparent));
      const { traceId, spanId } = span.spanContext();
      const end: RequestSpan['end'] = (status, attributes) =>
        endSpan(span, status, attributes, api.SpanStatusCode.ERROR);
      return { traceId, spanId, end };
    },
    close: () =>
      within(CLOSE_WITHIN_MS, () => provider.shutdown()).catch(() =>
        sayLost('the collector has not answered in time'),
      ),
  };
}

async function newProvider(environment: Environment) {
  const [sdk, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const own = { 'service.name': 'store-orders', 'service.version': VERSION };
  return new sdk.TracerProvider({
    resource: resources
      .resourceFromAttributes(own)
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    sampler: samplerOf(environment, sdk),
    // Bounded: at most 2,048 spans wait, and further ones are dropped.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
}

/** Returns the context of a span whose parent is that of the caller, if it has sent one. */
function contextOf(
  { ROOT_CONTEXT, trace, TraceFlags }: typeof import('@opentelemetry/api'),
  traceparent: RequestToTrace['traceparent'],
) {
  const parent = parseTraceparent(traceparent);
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server */
function attributesOf({ method, path, route, client }: RequestToTrace): Attributes {
  return {
    'http.request.method': method,
    'url.path': path,
    'url.scheme': 'http',
    ...(route !== undefined && { 'http.route': route }),
    ...(client !== undefined && { 'client.address': client }),
  };
}

function endSpan(
  span: Span,
  status: number | undefined,
  attributes: Attributes,
  error: number,
): void {
  span.setAttributes(attributes);
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (status !== undefined && status >= 500) {
    span.setAttribute('error.type', String(status));
    span.setStatus({ code: error });
  }
  span.end();
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
function samplerOf(
  { OTEL_TRACES_SAMPLER: name = 'parentbased_always_on', OTEL_TRACES_SAMPLER_ARG }: Environment,
  sdk: typeof import('@opentelemetry/sdk-trace'),
): Sampler {
  const ratio = Number(OTEL_TRACES_SAMPLER_ARG || '1');
  const root = name.endsWith('traceidratio')
    ? new sdk.TraceIdRatioBasedSampler(ratio)
    : name.endsWith('always_off')
      ? new sdk.AlwaysOffSampler()
      : new sdk.AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

/** Returns a function that logs why spans are lost, now and then; the service goes on. */
function lossesTo(logger: Logger): (reason: string) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (reason) => {
    if (performance.now() - saidAt < SAY_LOST_EVERY_MS) return;
    saidAt = performance.now();
    logger.warn({ reason }, 'traces are not exported');
  };
}
