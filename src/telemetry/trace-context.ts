/** The caller's span. */
interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Parses the header traceparent; returns undefined for a value that must be ignored. https://www.w3.org/TR/trace-context-1/#traceparent-header */
export function parseTraceparent(
  header: string | readonly string[] | undefined,
): TraceContext | undefined {
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
