/** The longest request target that is looked at; a longer one is answered 414. */
export const MAX_URL_BYTES = 8 * 1024;
/** Request line and headers together; beyond it 431 (or 414, if it was the request line). */
export const MAX_HEADER_BYTES = 32 * 1024;
/** No operation reads a body, but some clients send one: more than this is answered 413. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Problems of one request that its Error record names. */
export const MAX_PROBLEMS = 100;
/** Sockets open at a time; more are closed as they come. */
export const MAX_CONNECTIONS = 10_000;
/** The same of the operations listener. */
export const MAX_OPERATIONS_CONNECTIONS = 32;
/** Requests of one connection that wait for the answers before theirs; beyond it is cut off. */
export const MAX_PIPELINED = 100;
/** From the first byte of a request to the end of its headers. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** From the first byte of a request to its last. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** How often the two time-outs above are looked after. */
export const TIMEOUT_CHECK_INTERVAL_MS = 2_000;
/** From the arrival of all of a request to a 503, if the store does not do its part; answers take 2 s at most. */
export const ANSWER_WITHIN_MS = 1_800;
/**
 * A connection on which nothing moves: between two requests, a peer that is gone; or whose client takes nothing of
 * what is to be sent to it, whatever it sends itself. Longer than common proxies keep theirs, so that it is they who close.
 */
export const IDLE_TIMEOUT_MS = 72_000;
/** For how long a client is told that it may use a connection again, so that its request comes before the end. */
export const KEEP_ALIVE_MS = 70_000;
/** How long a client whose connection has ended may go on sending, or leave its own side open. */
export const LINGER_MS = 5_000;
/** The same while the server is closing. */
export const DRAIN_LINGER_MS = 1_000;
/** How long a request that has begun to arrive may go on arriving while the server is closing. */
export const DRAIN_REQUESTS_MS = 2_000;
/** How long a connection that was just accepted may take to send its first request while the server is closing. */
export const DRAIN_FIRST_REQUEST_MS = 500;
/** How often connections that have become idle are closed while the server is closing. */
export const DRAIN_CHECK_INTERVAL_MS = 50;
/**
 * Bytes of blocks that are in no current list, but in one that a slow reader is still getting; beyond
 * it the readers that are furthest behind are cut off.
 */
export const MAX_SUPERSEDED_BYTES = 256 * 1024 * 1024;
