import { ConnectionError, type ResponseDetails, responseError, TimeoutError } from './errors.ts';
import { parseExact } from './exact-json.ts';
import type { ErrorRecord } from './records.ts';
import type { Settings } from './settings.ts';

export interface Request {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With the version: /v2/store/orders */
  readonly path: string;
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
  /** The whole body as JSON, with bigint; undefined if it is empty. */
  readonly json: () => Promise<unknown>;
}

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
    const timer = setTimeout(() => controller.abort(new TimeoutError(message)), ms);
    try {
      return await promise;
    } catch (error) {
      throw failed(error);
    } finally {
      clearTimeout(timer);
    }
  };
  const { headersTimeoutMs, gapTimeoutMs } = settings;
  const response = await within(
    settings.fetch(urlOf(settings, request), initOf(settings, request, controller.signal)),
    headersTimeoutMs,
    `no response within ${headersTimeoutMs} ms`,
  );
  if (response.body === null) release();
  async function* chunks(): AsyncGenerator<string, void> {
    const reader = response.body?.getReader();
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const gap = `nothing arrived for ${gapTimeoutMs} ms`;
    try {
      for (;;) {
        const read =
          reader === undefined ? undefined : await within(reader.read(), gapTimeoutMs, gap);
        const text = decoder.decode(read?.value, { stream: read?.done === false });
        if (text !== '') yield text;
        if (read?.done !== false) return;
      }
    } finally {
      release();
      // Ends the connection if the body was not read to its end.
      reader?.cancel().catch(() => {});
    }
  }
  const text = async () => {
    let whole = '';
    for await (const chunk of chunks()) whole += chunk;
    return whole;
  };
  const { status, headers } = response;
  if (!response.ok && status !== 304) throw responseError(detailsOf(status, headers, await text()));
  const json = async () => {
    const body = await text();
    return body === '' ? undefined : parseExact(body);
  };
  return { status, headers, chunks, json };
}

function urlOf({ root }: Settings, { path, query = {} }: Request): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]);
  const search = new URLSearchParams(given).toString();
  return `${root}${path}${search === '' ? '' : `?${search}`}`;
}

function initOf({ apiKey }: Settings, request: Request, signal: AbortSignal): RequestInit {
  const { method, body, headers = {} } = request;
  const all = { authorization: `Bearer ${apiKey}`, accept: 'application/json', ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]);
  return {
    ...{ method, signal, redirect: 'error', cache: 'no-store', credentials: 'omit' },
    headers: [...given, ...(body === undefined ? [] : [['content-type', 'application/json']])] as [
      string,
      string,
    ][],
    ...(body !== undefined && { body }),
  };
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
