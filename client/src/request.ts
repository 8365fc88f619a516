import { CODING_SUFFIX } from '../../protocol/coding-suffix.ts';
import { CALLS } from '../../protocol/generated/calls.ts';
import { ERROR_CODES, type OperationName } from '../../protocol/generated/error-codes.ts';
import type { ErrorRecord, OrderRecord } from '../../protocol/generated/records.ts';
import { anyEtag, pathWith, queryOf } from './arguments.ts';
import { type Call, timer, whenAborted } from './call.ts';
import {
  ConnectionError,
  ForeignResponseError,
  isUnavailable,
  responseError,
  StoreOrdersError,
  TimeoutError,
} from './errors.ts';
import { parse } from './exact-json.ts';
import { isErrorRecord, RECORDS, type RecordOf } from './shapes.ts';

/** What a call adds to the request of its operation. */
export interface Given<Found> {
  /** Of the order, the pet, the webhook or the API key in the path. */
  readonly id?: bigint | string;
  readonly query?: object;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** JSON. */
  readonly body?: string | undefined;
  /** An ETag; while it is current, the response is 304. */
  readonly ifNoneMatch?: string | undefined;
  /** Whether a record in the response can be the one that is meant. */
  isMeant?(record: Found): boolean;
  /** Whether the order in an Error record can be the order that the request changes. */
  readonly isSubject?: (order: OrderRecord) => boolean;
}

export type Request<Name extends OperationName = OperationName> = ReturnType<
  typeof requestOf<Name>
>;

/** The request of an operation, as the contract has it. @throws TypeError for what cannot be sent */
export function requestOf<Name extends OperationName>(
  operation: Name,
  { id, query = {}, headers, ifNoneMatch, ...given }: Given<RecordOf<Name>> = {},
) {
  const { method, path, expects } = CALLS[operation];
  return {
    ...{ ...given, operation, method, path: pathWith(path, id), query: queryOf(operation, query) },
    headers: { 'if-none-match': anyEtag(ifNoneMatch), ...headers },
    expects: ifNoneMatch === undefined ? expects : [...expects, 304],
  };
}

/** Statuses of permanent redirects: a repetition would get the same. */
const PERMANENT = [301, 308];
/** Maximum length of a redirect's target in an error. */
const MAX_LOCATION = 500;

/** Maximum size of a record or a page; a page of changes has at most about 1 MB. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

/** Sends a request once, and reads the response. @throws what `open` and `read` throw */
export async function send<Name extends OperationName, T>(
  call: Call,
  request: Request<Name>,
  read: (reply: Reply<Name>) => T | Promise<T>,
): Promise<T> {
  const reply = await open(call, request);
  try {
    return await read(reply);
  } finally {
    reply.close();
  }
}

/** A record with the ETag of its state. */
export type Tagged<T> = T & { readonly etag: string };

/** Reads a record once; undefined if it still has the ETag that is given. @throws what `open` and `requestOf` throw */
export async function read<Name extends OperationName>(
  call: Call,
  operation: Name,
  given: Given<RecordOf<Name>>,
): Promise<Tagged<RecordOf<Name>> | undefined> {
  return send(call, requestOf(operation, given), async (reply) => {
    if (reply.status !== 304) return reply.tagged(await reply.record());
    const known = given.ifNoneMatch!;
    const etag = reply.headers.get('etag') ?? known;
    if (opaqueTag(etag) !== opaqueTag(known)) throw reply.foreign('has another ETag');
    return undefined;
  });
}

/** Reads a page once. @throws also ForeignResponseError for the page before: reading all pages would never end */
export async function readPage<Name extends OperationName>(
  call: Call,
  operation: Name,
  given: Given<RecordOf<Name>>,
): Promise<Tagged<RecordOf<Name>> | undefined> {
  const page = await read(call, operation, given);
  const { next, more = true } = { ...page } as { next?: string; more?: boolean };
  const { cursor, after = cursor } = given.query as { cursor?: string; after?: string };
  if (next === undefined || !more || next !== after) return page;
  const details = { status: 200, requestId: call.requestId };
  throw new ForeignResponseError('a proxy has returned the previous page again', details);
}

/**
 * Sends a request once. The reply must be closed.
 * @throws ResponseError, ConnectionError, or the reason of the call's signal
 */
export async function open<Name extends OperationName>(
  call: Call,
  request: Request<Name>,
): Promise<Reply<Name>> {
  call.signal.throwIfAborted();
  const { settings } = call;
  const sent = call.next(request);
  const connection = new Connection(call, sent.requestId);
  try {
    const from = performance.now();
    const init = initOf(call, request, sent.requestId, connection.signal);
    const { headersTimeoutMs } = settings;
    // In a promise even if `fetch` throws synchronously.
    const responding = (async () => settings.fetch(urlOf(call, request), init))();
    // If `fetch` ignores the signal, a response that arrives too late is discarded.
    const letGo = ({ body }: Response) => (connection.signal.aborted ? body?.cancel() : undefined);
    responding.then(letGo).catch(() => {});
    const message = `no response within ${headersTimeoutMs} ms`;
    const response = await connection.within(responding, headersTimeoutMs, message);
    const durationMs = performance.now() - from;
    settings.onResponse({ ...sent, status: response.status, durationMs });
    const reply = new Reply(call, request, connection, response);
    call.nothingSent = false;
    if (request.expects.includes(response.status)) return reply;
    throw await refusal(reply).finally(() => reply.close());
  } catch (error) {
    call.nothingSent &&= error instanceof ConnectionError && error.nothingSent;
    connection.close();
    throw error;
  }
}

/** The abort signal and the timeouts of a request and its response. */
class Connection {
  readonly requestId: string;
  readonly close: () => void;
  readonly #call: Call;
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;

  constructor(call: Call, requestId: string) {
    this.#call = call;
    this.requestId = requestId;
    this.close = whenAborted(call.signal, () => this.#controller.abort(call.signal.reason));
  }

  /** Waits for `promise`, even if it ignores the signal, and closes the connection after the timeout. */
  async within<T>(promise: Promise<T>, ms: number, message: string): Promise<T> {
    const { requestId } = this;
    const cutOff = () => this.#controller.abort(new TimeoutError(message, { requestId }));
    const timeUp = timer(cutOff, ms);
    let release = () => {};
    try {
      return await new Promise<T>((resolve, reject) => {
        promise.then(resolve, reject);
        release = whenAborted(this.signal, () => reject(this.signal.reason));
      });
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      clearTimeout(timeUp);
      release();
    }
  }

  #errorOf(error: unknown): unknown {
    if (this.#call.signal.aborted) return this.#call.signal.reason;
    if (this.signal.aborted) return this.signal.reason;
    const { requestId } = this;
    const tls = tlsProblem(error);
    if (tls !== undefined) {
      const message = `no TLS connection could be made: ${tls}`;
      return new ConnectionError(message, {
        ...{ cause: error, requestId, nothingSent: true, isFinal: true },
      });
    }
    return new ConnectionError('the service could not be reached, or the connection was lost', {
      ...{ cause: error, requestId, nothingSent: isNotConnected(error) },
    });
  }
}

export class Reply<Name extends OperationName = OperationName> {
  readonly request: Request<Name>;
  readonly status: number;
  readonly headers: Headers;
  readonly #call: Call;
  readonly #connection: Connection;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  /** Remaining time for useful data to arrive; the time that the caller uses does not count. */
  #leftMs: number;
  #isAlive = false;

  constructor(call: Call, request: Request<Name>, connection: Connection, response: Response) {
    this.#call = call;
    this.request = request;
    this.#connection = connection;
    this.status = response.status;
    this.headers = response.headers;
    this.#reader = response.body?.getReader();
    this.#leftMs = call.settings.gapTimeoutMs;
  }

  /** Ends the connection if the body was not read to its end. */
  close(): void {
    this.#connection.close();
    this.#reader?.cancel().catch(() => {});
  }

  /** Restarts the timeout `gapTimeoutMs`, since useful data has arrived. */
  progress(): void {
    this.#leftMs = this.#call.settings.gapTimeoutMs;
  }

  /** From now on, all data counts as progress. */
  keepAlive(): void {
    this.#isAlive = true;
  }

  /**
   * The body as it arrives, in chunks of text. `gapTimeoutMs` applies to the whole body, and restarts at each progress.
   * @param maxBytes maximum size of the body
   */
  async *chunks(maxBytes = Number.POSITIVE_INFINITY): AsyncGenerator<string, void> {
    if (this.#reader === undefined) return;
    const message = `no useful data arrived within ${this.#call.settings.gapTimeoutMs} ms`;
    const decoder = new TextDecoder('utf-8', { fatal: true });
    for (let bytes = 0; ; ) {
      const from = performance.now();
      const reading = this.#connection.within(this.#reader.read(), this.#leftMs, message);
      const { done, value } = await reading;
      this.#leftMs -= performance.now() - from;
      if (this.#isAlive) this.progress();
      bytes += value?.length ?? 0;
      if (bytes > maxBytes) throw this.foreign(`is longer than ${maxBytes} bytes`);
      const text = this.#decoded(decoder, value, done);
      if (text !== '') yield text;
      if (done) return;
    }
  }

  /** The whole body. @throws ForeignResponseError if it is longer than MAX_RECORD_BYTES */
  async text(): Promise<string> {
    let text = '';
    for await (const chunk of this.chunks(MAX_RECORD_BYTES)) text += chunk;
    return text;
  }

  /** The record in the body, with bigint. @throws ForeignResponseError if it is not a record of the operation, or not the one that is meant */
  async record(): Promise<RecordOf<Name>> {
    const { operation, isMeant } = this.request;
    const record = objectIn(await this.text()) as RecordOf<Name>;
    if (RECORDS[operation]?.(record) === true && isMeant?.(record) !== false) return record;
    throw this.foreign('is not a record of the operation');
  }

  /** Adds the ETag to a record: orders have their own, which no proxy weakens; otherwise that of the response, empty if a proxy has removed it. */
  tagged<T extends object>(record: T): Tagged<T> {
    return { etag: this.headers.get('etag') ?? '', ...record };
  }

  /** A success without a body. @throws ForeignResponseError for a proxy's success; only this header shows the difference */
  empty(): true {
    if (this.headers.get('x-request-id') !== null) return true;
    throw this.foreign('has no X-Request-Id');
  }

  get requestId(): string {
    return this.#connection.requestId;
  }

  /** @param reason completes "the response …" */
  foreign(reason: string, cause?: unknown): ForeignResponseError {
    const { status, requestId } = this;
    return new ForeignResponseError(
      `the response (${status}) ${reason}: it does not come from the service`,
      { status, requestId, cause, retryAfterMs: retryAfterOf(this.headers) },
    );
  }

  /** The error for a redirect. A proxy may have forwarded the request before, so its outcome is unknown. */
  redirect(): ForeignResponseError {
    const { status, requestId } = this;
    const location = this.headers.get('location')?.slice(0, MAX_LOCATION) ?? 'another URL';
    return new ForeignResponseError(
      `the response (${status}) is a redirect to ${location}, which is not followed, since the key would be sent there; correct baseUrl`,
      { status, requestId, isFinal: PERMANENT.includes(status) },
    );
  }

  /** Converts an error of reading the body: if it could not be parsed, the response is foreign. */
  failure(error: unknown, reason: string): unknown {
    const isForeign = error instanceof SyntaxError || error instanceof RangeError;
    return isForeign && !this.#call.isAbort(error) ? this.foreign(reason, error) : error;
  }

  #decoded(decoder: TextDecoder, bytes: Uint8Array | undefined, isEnd: boolean): string {
    try {
      return decoder.decode(bytes, { stream: !isEnd });
    } catch (error) {
      throw this.foreign('is not UTF-8', error);
    }
  }
}

/** Returns an ETag without what proxies that compress add. */
function opaqueTag(etag: string): string {
  return etag.replace(/^W\//, '').replace(CODING_SUFFIX, '"');
}

/** Returns the error for a response that is not a success. */
async function refusal(reply: Reply): Promise<StoreOrdersError> {
  const { request, status, headers } = reply;
  // 3xx, and 0 for a redirect in a browser.
  if (status < 400) return reply.redirect();
  const text = await reply.text().catch((error) => {
    // From 500 on, the status is sufficient, even if the body is incomplete.
    if (status >= 500 && error instanceof StoreOrdersError) return '';
    throw error;
  });
  const record = objectIn(text);
  const retryAfterMs = retryAfterOf(headers);
  const requestId = headers.get('x-request-id') || reply.requestId;
  const isRecord = isErrorRecord(record) && record.status === BigInt(status);
  const isListed = isRecord && isCodeOf(request, record);
  const isOwn = isListed || (isRecord && isFromService(reply, record));
  const details = { status, requestId, retryAfterMs };
  const { isSubject = () => true } = request;
  if (isOwn && (record.order === undefined || isSubject(record.order))) {
    const { code, message, errors: problems = [], order } = record;
    const isNew = !isListed && (status >= 500 || hasStatus(request, status));
    return responseError({ ...details, code, message, problems, order, isUnclear: isNew });
  }
  if (!isUnavailable(status)) {
    return reply.foreign(isRecord ? `has the code "${record.code}"` : 'is not an Error record');
  }
  const code = isRecord ? record.code : 'unknown';
  const message = `The response comes from ${isRecord ? 'another operation' : 'a proxy'}.`;
  return responseError({ ...details, code, message, problems: [], order: undefined });
}

/** Whether the operation has this error in this release of the contract. */
function isCodeOf({ operation }: Request, { code, status }: ErrorRecord): boolean {
  const codes: Readonly<Record<string, number>> = ERROR_CODES[operation];
  return Object.hasOwn(codes, code) && BigInt(codes[code]!) === status;
}

/** Whether the operation has an error with this status in this release of the contract. */
function hasStatus({ operation }: Request, status: number): boolean {
  return Object.values(ERROR_CODES[operation]).includes(status);
}

const CODE = /^[a-z][a-z0-9_]*$/;

/**
 * Whether an Error record whose code is not known comes from the service: the response has the X-Request-Id that was sent, or, behind a proxy that
 * has replaced that, the headers of all errors of the service. "not_found" does not: there is no operation at the URL.
 */
function isFromService({ headers, requestId }: Reply, { code }: ErrorRecord): boolean {
  if (!CODE.test(code) || code === 'not_found') return false;
  const id = headers.get('x-request-id');
  const isLikeOurs =
    headers.get('x-content-type-options') === 'nosniff' &&
    headers.get('cache-control')?.startsWith('no-store') === true;
  return id === requestId || (id !== null && isLikeOurs);
}

function objectIn(text: string): object | undefined {
  try {
    const record = parse(text);
    return typeof record === 'object' && record !== null ? record : undefined;
  } catch {
    // Not JSON, or nested too deeply.
    return undefined;
  }
}

/** Retry-After, in seconds or as a date (RFC 9110, section 10.2.3), in milliseconds. */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  // A proxy may have joined several.
  const seconds = /^\s*(\d+)\s*(?:,|$)/.exec(value)?.[1];
  if (seconds !== undefined) return Number(seconds) * 1000;
  const at = Date.parse(value);
  if (Number.isNaN(at)) return undefined;
  // By the clock of the server, if it sends one.
  const sentAt = Date.parse(headers.get('date') ?? '');
  return Math.max(0, at - (Number.isNaN(sentAt) ? Date.now() : sentAt));
}

function urlOf({ settings: { root } }: Call, { path, query }: Request): string {
  // "%20" rather than "+" for a space: "+" is an encoding of forms.
  const search = new URLSearchParams(given(query)).toString().replaceAll('+', '%20');
  return `${root}${path}${search === '' ? '' : `?${search}`}`;
}

function initOf(
  { settings: { apiKey }, headers }: Call,
  request: Request,
  requestId: string,
  signal: AbortSignal,
): RequestInit {
  const { method, body } = request;
  return {
    method,
    signal,
    redirect: 'manual',
    ...BROWSER_INIT,
    ...(body !== undefined && { body }),
    headers: new Headers(
      given({
        ...headers,
        authorization: `Bearer ${apiKey}`,
        accept: 'application/json',
        'content-type': body === undefined ? undefined : 'application/json',
        'x-request-id': requestId,
        ...request.headers,
      }),
    ),
  };
}

/** Only for runtimes with a cache and cookies: Cloudflare Workers reject options that they do not support. */
const BROWSER_INIT: RequestInit = {
  ...(has('cache') && { cache: 'no-store' }),
  ...(has('credentials') && { credentials: 'omit' }),
};

function has(property: string): boolean {
  return typeof globalThis.Request === 'function' && property in globalThis.Request.prototype;
}

function given(values: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(values).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
}

/** Error codes of connections that were never made: Node.js, undici, Bun. */
const NOT_CONNECTED = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['ConnectionRefused', 'FailedToOpenSocket'],
];

/** Whether an error of fetch shows that nothing was sent. Browsers do not report this. */
function isNotConnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall, cause, message } = error as Error & { code?: string; syscall?: string };
  if (NOT_CONNECTED.includes(code ?? '') || syscall === 'connect') return true;
  // Deno.
  if (message.includes('client error (Connect)')) return true;
  return isNotConnected(cause);
}

/**
 * Errors of a TLS handshake, before any part of a request is sent: failed verification, a server without TLS, or one with an unsupported
 * version.
 */
const TLS =
  /^(?:CERT_|ERR_TLS_CERT_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|HOSTNAME_MISMATCH|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|HTTP_REQUEST|TLSV1_ALERT_PROTOCOL_VERSION|TLSV1_UNRECOGNIZED_NAME|SSLV3_ALERT_HANDSHAKE_FAILURE)$)/;
/** The same errors in Deno, which has no codes. */
const TLS_MESSAGE = /invalid peer certificate|received corrupt message of type InvalidContentType/;

/** Returns why no TLS connection can be made; undefined if an error of fetch has another cause. Browsers do not report this. */
function tlsProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, cause, message } = error as Error & { code?: string };
  if (TLS.test(code ?? '') || TLS_MESSAGE.test(message)) return message;
  return tlsProblem(cause);
}
