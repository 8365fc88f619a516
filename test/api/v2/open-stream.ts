import type { TestContext } from 'node:test';
import type { Service } from '../../http/harness.ts';

export const STREAM = '/v2/store/changes/stream';
/** A stream that does not end by then fails the test. */
const LIMIT_MS = 60_000;

export interface Event {
  readonly id: string | undefined;
  /** The name of the event. */
  readonly event: string;
  readonly data: {
    readonly revision: number;
    readonly type: string;
    readonly order: { readonly id: number };
  };
}

/** An open stream, read event by event. */
export class Stream {
  readonly response: Response;
  readonly #events: AsyncGenerator<Event>;
  readonly #controller: AbortController;

  constructor(response: Response, controller: AbortController) {
    this.response = response;
    this.#controller = controller;
    this.#events = eventsIn(response);
  }

  /** The next events, as many as asked for; fewer if the stream ends. */
  async take(count: number): Promise<Event[]> {
    const taken: Event[] = [];
    while (taken.length < count) {
      const { value, done } = await this.#events.next();
      if (done) break;
      taken.push(value);
    }
    return taken;
  }

  close(): void {
    this.#controller.abort();
  }
}

async function* eventsIn(response: Response): AsyncGenerator<Event> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s).slice(0, 2)),
      );
      text = text.slice(end + 2);
      if (fields.data === undefined) continue;
      yield { id: fields.id, event: fields.event, data: JSON.parse(fields.data) };
    }
  }
}

/** Opens a stream, which ends with the test. */
export async function openStream(
  t: TestContext,
  { port, secret }: Pick<Service, 'port' | 'secret'>,
  query = '',
  headers: Record<string, string> = {},
): Promise<Stream> {
  const controller = new AbortController();
  t.after(() => controller.abort());
  const response = await fetch(`http://127.0.0.1:${port}${STREAM}${query}`, {
    headers: { authorization: `Bearer ${secret}`, ...headers },
    signal: AbortSignal.any([controller.signal, AbortSignal.timeout(LIMIT_MS)]),
  });
  return new Stream(response, controller);
}
