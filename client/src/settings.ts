/** How to reach the service. */
export interface StoreOrdersOptions {
  /** The address of the service, such as https://api.store.example; a version at its end is ignored. */
  readonly baseUrl: string | URL;
  /** so_live_… or so_test_… */
  readonly apiKey: string;
  /** Sends the requests; `fetch` by default. */
  readonly fetch?: typeof fetch;
  /** How often a request is repeated at most; 5 by default. */
  readonly retries?: number;
  /** The longest wait before a repetition, in milliseconds, 30,000 by default. If the service asks for a longer one, the call fails. */
  readonly longestWaitMs?: number;
  /** How long a response may take to begin, in milliseconds; 10,000 by default. */
  readonly headersTimeoutMs?: number;
  /** How long a response may stop arriving, in milliseconds; 30,000 by default. */
  readonly gapTimeoutMs?: number;
}

/** Of every call. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's reason. A change may have happened nevertheless. */
  readonly signal?: AbortSignal | undefined;
}

export interface Settings extends Required<Omit<StoreOrdersOptions, 'baseUrl'>> {
  /** Without a slash at its end. */
  readonly root: string;
}

/** @throws TypeError for options that cannot be used */
export function settingsOf(options: StoreOrdersOptions): Settings {
  const { apiKey } = options;
  // A header with other characters would fail with an error that shows the key.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be an API key, such as so_live_…');
  }
  const url = new URL(options.baseUrl);
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl must have no query, fragment or credentials');
  }
  return {
    root: url.href.replace(/\/+$/, '').replace(/\/v[12]$/, ''),
    apiKey,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    retries: options.retries ?? 5,
    longestWaitMs: options.longestWaitMs ?? 30_000,
    headersTimeoutMs: options.headersTimeoutMs ?? 10_000,
    gapTimeoutMs: options.gapTimeoutMs ?? 30_000,
  };
}
