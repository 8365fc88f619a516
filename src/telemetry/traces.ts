import type { Attributes } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { withTimeout } from '../concurrency.ts';
import { VERSION } from '../version.ts';

/** The variables of OpenTelemetry that are read here; the exporter reads its own. */
type Environment = Readonly<Partial<Record<string, string>>>;

/** Minimum time between two log lines about lost spans. */
const REPORT_LOST_EVERY_MS = 60_000;

/** Makes a span of each request, and exports them over OTLP. */
export interface Traces {
  readonly begin: (request: RequestToTrace) => RequestSpan;
  /** Exports the remaining spans, within a time limit. */
  readonly close: (withinMs: number) => Promise<void>;
}

interface RequestToTrace {
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

/**
 * Returns undefined unless a valid endpoint is set; the packages of OpenTelemetry are loaded only then.
 * @param onFailure called whenever traces cannot be exported
 */
export async function startTraces(
  environment: Environment,
  logger: Logger,
  onFailure: () => void,
): Promise<Traces | undefined> {
  const endpoint = endpointOf(environment);
  if (endpoint === undefined) return undefined;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    onFailure();
    logger.error(
      'traces are not exported: the endpoint of OpenTelemetry is not an http or https URL',
    );
    return undefined;
  }
  const api = await import('@opentelemetry/api');
  const reportLost = lossesTo(logger, onFailure);
  const warn = (reason: string) => logger.warn({ reason }, 'a setting of OpenTelemetry is ignored');
  const listeners = { error: reportLost, warn, info() {}, debug() {}, verbose() {} };
  const logLevel = api.DiagLogLevel.WARN;
  api.diag.setLogger(listeners, { logLevel, suppressOverrideMessage: true });
  const provider = await newProvider(environment, warn);
  const tracer = provider.getTracer('store-orders', VERSION);
  // Only the origin: a URL can hold a password.
  logger.info({ endpoint: new URL(endpoint).origin }, 'exporting traces');
  return {
    begin: (request) => {
      const { method, route } = request;
      const name = route === undefined ? method : `${method} ${route}`;
      const options = { kind: api.SpanKind.SERVER, attributes: attributesOf(request) };
      const span = tracer.startSpan(name, options, contextOf(api, request.traceparent));
      const { traceId, spanId } = span.spanContext();
      return {
        traceId,
        spanId,
        end: (status, attributes) => {
          span.setAttributes(attributes);
          if (status !== undefined) span.setAttribute('http.response.status_code', status);
          if (status !== undefined && status >= 500) {
            span.setAttribute('error.type', String(status));
            span.setStatus({ code: api.SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    close: (withinMs) =>
      withTimeout(withinMs, () => provider.shutdown()).catch(() =>
        reportLost('the collector did not respond in time'),
      ),
  };
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function endpointOf(environment: Environment): string | undefined {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === 'true' || OTEL_TRACES_EXPORTER === 'none') {
    return undefined;
  }
  return (
    environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ||
    environment.OTEL_EXPORTER_OTLP_ENDPOINT ||
    undefined
  );
}

async function newProvider(environment: Environment, warn: (reason: string) => void) {
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
    sampler: samplerOf(environment, sdk, warn),
    // Bounded: at most 2,048 spans wait, and further ones are dropped.
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
}

/** Returns the context of a new span: the caller's, if the request has one. */
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

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'];

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
function samplerOf(
  { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG }: Environment,
  sdk: typeof import('@opentelemetry/sdk-trace'),
  warn: (reason: string) => void,
): Sampler {
  let name = OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  if (!SAMPLERS.includes(name.replace('parentbased_', ''))) {
    warn(`OTEL_TRACES_SAMPLER: unknown sampler ${name}`);
    name = 'parentbased_always_on';
  }
  let ratio = Number(OTEL_TRACES_SAMPLER_ARG || '1');
  if (!(ratio >= 0 && ratio <= 1)) {
    warn(`OTEL_TRACES_SAMPLER_ARG: ${OTEL_TRACES_SAMPLER_ARG} is not a number from 0 to 1`);
    ratio = 1;
  }
  const root = name.endsWith('traceidratio')
    ? new sdk.TraceIdRatioBasedSampler(ratio)
    : name.endsWith('always_off')
      ? new sdk.AlwaysOffSampler()
      : new sdk.AlwaysOnSampler();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

/** Returns a function that logs why spans are lost, at most once per REPORT_LOST_EVERY_MS. */
function lossesTo(logger: Logger, onFailure: () => void): (reason: string) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (text) => {
    onFailure();
    if (performance.now() - saidAt < REPORT_LOST_EVERY_MS) return;
    saidAt = performance.now();
    // The exporter reports errors as JSON with a stack.
    const reason = /"message":"([^"]*)"/.exec(text)?.[1] ?? text;
    logger.warn({ reason }, 'traces are not exported');
  };
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Returns the caller's span in the header traceparent; undefined for a value that must be ignored.
 * https://www.w3.org/TR/trace-context-1/#traceparent-header
 */
export function parseTraceparent(header: string | readonly string[] | undefined) {
  const match = typeof header === 'string' ? TRACEPARENT.exec(header) : null;
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, rest] = match;
  const isKnown = version === '00' && rest === undefined;
  // Later versions may have more fields.
  const isLater = version !== '00' && version !== 'ff';
  if (!isKnown && !isLater) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, isSampled: /[13579bdf]$/.test(flags!) };
}
