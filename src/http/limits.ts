/** Maximum length of a request target; 414 beyond it. */
export const MAX_URL_BYTES = 8 * 1024;
/** Maximum size of request line and headers together; 431 beyond it, or 414 if the request line is too long. */
export const MAX_HEADER_BYTES = 32 * 1024;
/** Maximum size of a request body that no handler reads, since some clients send one; 413 beyond it. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Maximum size of a request body that a handler reads; bounds the time of its validation. 413 beyond it. */
export const MAX_JSON_BYTES = 64 * 1024;
/** Maximum problems that the Error record of one request names. */
export const MAX_PROBLEMS = 100;
/** Maximum open connections of the public listener; further ones are closed on accept. */
export const MAX_CONNECTIONS = 10_000;
/** Maximum open connections of the admin listener; a further one takes the place of the one that has been idle for longest. */
export const MAX_ADMIN_CONNECTIONS = 32;
/** Maximum open streams of changes; 503 beyond it. */
export const MAX_STREAMS = 2_000;
/** Maximum open streams of one API key; 429 beyond it. */
export const MAX_STREAMS_PER_KEY = 100;
/** Maximum pipelined requests waiting on one connection; the connection is destroyed beyond it. */
export const MAX_PIPELINED = 100;
/** Timeout from the first byte of a request to the end of its headers. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Timeout from the first byte of a request to the last. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two timeouts above, and stalled connections, are checked. */
export const TIMEOUT_CHECK_INTERVAL_MS = 2_000;
/** Time from complete receipt of a request to a 503, if the store does not respond; keeps responses within 2 s. */
export const ANSWER_WITHIN_MS = 1_800;
/**
 * Timeout of a connection without traffic, and of a connection whose client does not read pending output, even if it sends data. Longer than the
 * keep-alive timeouts of common proxies, so that the proxy closes first.
 */
export const IDLE_TIMEOUT_MS = 72_000;
/** Keep-Alive timeout sent to clients; below IDLE_TIMEOUT_MS, so that no request meets a connection being closed. */
export const KEEP_ALIVE_MS = 70_000;
/** Lingering close: how long the client may keep sending, or keep its own side open, after the last response. */
export const LINGER_MS = 5_000;
/** LINGER_MS during shutdown. */
export const DRAIN_LINGER_MS = 1_000;
