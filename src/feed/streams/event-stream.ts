import { positionText } from '../../../protocol/history.ts';
import { kept } from '../../http/request/content-coding.ts';
import { changeJson, formatInTurns } from '../../records/order-json.ts';
import { type ChangePage, type FeedFilter, matches, positionAfter } from '../../store/feed.ts';

/** Returns the events of a page as bytes; streams with the same filter share them. */
type EventsFor = (filter?: FeedFilter) => Buffer;

/** Streams that keep up share their pages, so each is formatted once. */
const FORMATTED = new WeakMap<ChangePage, Promise<EventsFor>>();

export function eventsOf(page: ChangePage): Promise<EventsFor> {
  return kept(FORMATTED, page, formatted);
}

/** Formats the changes of a page by https://html.spec.whatwg.org/multipage/server-sent-events.html. Only the last event of a revision has an id. */
async function formatted({ changes, position }: ChangePage): Promise<EventsFor> {
  const records = await formatInTurns(changes, changeJson);
  const events = changes.map((change, index) => ({ change, data: records[index]! }));
  const revisions = [...Map.groupBy(events, ({ change }) => change.order.revision).values()];
  const formattedFor = new Map<string, Buffer>();
  return (filter = {}) => {
    const { petIds, types, by } = filter;
    const name = [petIds, types, by].join(' ');
    const known = formattedFor.get(name);
    if (known !== undefined) return known;
    const texts = revisions.map((each) => {
      const cursor = positionText(positionAfter(each.at(-1)!.change));
      return framesOf(
        each.filter(({ change }) => matches(filter, change)),
        cursor,
      );
    });
    // The client resumes after the examined changes.
    if (texts.at(-1) === '') texts.push(`id: ${positionText(position)}\n\n`);
    const bytes = Buffer.from(texts.join(''));
    formattedFor.set(name, bytes);
    return bytes;
  };
}

/** Returns the events of a revision, with an id on the last one; empty without events. */
function framesOf(events: readonly { readonly data: string }[], cursor: string): string {
  const frames = events.map(({ data }, index) => {
    const id = index === events.length - 1 ? `id: ${cursor}\n` : '';
    return `${id}event: change\ndata: ${data}\n\n`;
  });
  return frames.join('');
}
