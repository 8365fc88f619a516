import { ConnectionError, type ResponseDetails, responseError, TimeoutError } from './errors.ts';
import { parseExact } from './exact-json.ts';
import type { ErrorRecord } from './records.ts';
import type { Settings } from './settings.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With the version: /v2/store/orders */
  readonly path: string;
  /** The statuses of a success; a response with another one below 400 is not of the service. */
  readonly expects: readonly number[];
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** JSON. */
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A response that is a success, or 304. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it arrives, in chunks of text. Must be read or returned from. */
  readonly chunks: () => AsyncGenerator<string, void>;
  /** The whole body, a JSON object, with bigint. */
  readonly json: () => Promise<object>;
}

/** The longest time that timers have; any longer one is no limit. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Sends a request once.
 * @throws ResponseError, ConnectionError, TimeoutError, or the reason of the signal
 */
export async function send(settings: Settings, request: Request): Promise<Reply> {
  const { signal } = request;
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const release = () => signal?.removeEventListener('abort', abort);
  const failed = (error: unknown): unknown => {
    release();
    if (signal?.aborted) return signal.reason;
    if (controller.signal.reason instanceof TimeoutError) return controller.signal.reason;
    return new ConnectionError('the service could not be reached, or the connection was lost', {
      cause: error,
    });
  };
  /** Waits for `promise`, and cuts the connection off when the time is up. */
  const within = async <T>(promise: Promise<T>, ms: number, message: string): Promise<T> => {
    const cutOff = () => controller.abort(new TimeoutError(message));
    const timer = ms > MAX_TIMER_MS ? undefined : setTimeout(cutOff, ms);
    try {
      return await promise;
    } catch (error) {
      throw failed(error);
    } finally {
      clearTimeout(timer);
    }
  };
  const { headersTimeoutMs, gapTimeoutMs } = settings;
  const init = initOf(settings, request, controller.signal);
  const response = await within(
    (async () => settings.fetch(urlOf(settings, request), init))(),
    headersTimeoutMs,
    `no response within ${headersTimeoutMs} ms`,
  );
  if (response.body === null) release();
  async function* chunks(): AsyncGenerator<string, void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const gap = `nothing arrived for ${gapTimeoutMs} ms`;
    try {
      for (;;) {
        const { done, value } = await within(reader.read(), gapTimeoutMs, gap);
        const text = decoded(decoder, value, done);
        if (text !== '') yield text;
        if (done) return;
      }
    } finally {
      release();
      // Ends the connection if the body was not read to its end.
      reader.cancel().catch(() => {});
    }
  }
  const text = async () => {
    let whole = '';
    for await (const chunk of chunks()) whole += chunk;
    return whole;
  };
  const { status, headers } = response;
  if (status >= 400) {
    // What the status says holds, whatever becomes of the body.
    const body = await text().catch(() => '');
    signal?.throwIfAborted();
    throw responseError(detailsOf(status, headers, body));
  }
  if (!request.expects.includes(status)) {
    release();
    response.body?.cancel().catch(() => {});
    throw new ConnectionError(`a response with the status ${status} is not one of the service`);
  }
  return { status, headers, chunks, json: async () => recordIn(await text()) };
}

function decoded(decoder: TextDecoder, bytes: Uint8Array | undefined, isEnd: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !isEnd });
  } catch (error) {
    throw new ConnectionError('the response is not UTF-8', { cause: error });
  }
}

/** Parses a record. @throws ConnectionError if a response is not one of the service */
function recordIn(text: string): object {
  try {
    const record = parseExact(text);
    if (typeof record === 'object' && record !== null) return record;
  } catch (error) {
    // Anything else is an integer that this runtime cannot read.
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new ConnectionError('the response has no record');
}

function urlOf({ root }: Settings, { path, query = {} }: Request): string {
  const given = entriesOf(query);
  const search = new URLSearchParams(given).toString();
  return `${root}${path}${search === '' ? '' : `?${search}`}`;
}

function initOf({ apiKey }: Settings, request: Request, signal: AbortSignal): RequestInit {
  const { method, body, headers = {} } = request;
  const all = { authorization: `Bearer ${apiKey}`, accept: 'application/json', ...headers };
  // Made here, since fetch would report a header that cannot be sent as a lost connection.
  const given = new Headers(entriesOf(all));
  if (body !== undefined) given.set('content-type', 'application/json');
  return {
    ...{ method, signal, redirect: 'error', cache: 'no-store', credentials: 'omit' },
    headers: given,
    ...(body !== undefined && { body }),
  };
}

/** The entries that are given. */
function entriesOf(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}

/** What an Error record says, or a response of a proxy that is none. */
function detailsOf(status: number, headers: Headers, body: string): ResponseDetails {
  let record: Partial<ErrorRecord> = {};
  try {
    record = parseExact(body) as Partial<ErrorRecord>;
  } catch {
    // Not an Error record.
  }
  const seconds = headers.get('retry-after');
  return {
    status,
    code: record?.code ?? 'unknown',
    message: record?.message ?? 'This is not a response of the service.',
    problems: record?.errors ?? [],
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: seconds !== null && /^\d+$/.test(seconds) ? Number(seconds) * 1000 : undefined,
  };
}
