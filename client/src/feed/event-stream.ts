/** An event of https://html.spec.whatwg.org/multipage/server-sent-events.html */
interface StreamEvent {
  /** Undefined if the event has none. */
  readonly id: string | undefined;
  /** Empty if the event has none. */
  readonly data: string;
}

/** Maximum length of an event; those of the service have a few hundred bytes. */
const MAX_EVENT_LENGTH = 1024 * 1024;

/**
 * Parses server-sent events as they arrive. An event that is not finished when the stream ends is dropped.
 * @throws RangeError if an event is longer than MAX_EVENT_LENGTH
 */
export async function* eventsOf(chunks: AsyncIterable<string>): AsyncGenerator<StreamEvent, void> {
  let text = '';
  let id: string | undefined;
  let data: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    text += chunk;
    // A CR at the end may be the first half of CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (id !== undefined || data.length > 0) yield { id, data: data.join('\n') };
        [id, data, length] = [undefined, [], 0];
      } else {
        length += line.length;
        const [, field, value] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line)!;
        if (field === 'id') id = value!;
        else if (field === 'data') data.push(value!);
      }
    }
    if (text.length + length > MAX_EVENT_LENGTH) throw new RangeError('the event is too long');
  }
}
