import type { Screen } from '../screen.ts';
import { filterOf, isPart, parseWrittenId, type View, withPart } from './address.ts';
import { daysOf, PRESETS_OF, type RangeName, rangeOf } from './range.ts';

export type FilterName = 'pet' | 'reference' | RangeName;

/** Returns the view with the value of a filter's form; undefined, with a message in the form, if it cannot be one. */
export function applyFilter(name: FilterName, view: View, form: HTMLFormElement): View | undefined {
  const valueIn = (field: string) => (form.elements.namedItem(field) as HTMLInputElement).value;
  const base = { ...view, order: undefined };
  const problem = form.querySelector('.problem')!;
  if (name === 'reference') {
    const isChecked = (box: string) => form.querySelector(`[name=${box}]:checked`) !== null;
    // References can begin and end with blanks.
    const text = valueIn('reference');
    const isContained = isChecked('contains') && text.trim() !== '';
    const isShort = isContained && !isPart(text);
    problem.textContent = isShort ? 'A part has three characters at least.' : '';
    if (isContained) return isShort ? undefined : withPart(base, text);
    const [reference, prefix] = isChecked('prefix') ? ['', text] : [text, ''];
    return { ...base, reference, prefix, contains: '' };
  }
  if (name !== 'pet') {
    const [from, to] = [valueIn('from'), valueIn('to')];
    const isBackward = from !== '' && to !== '' && from > to;
    problem.textContent = isBackward ? 'The first day is after the last one.' : '';
    // The days of a preset go on with the days.
    const isSame = String([from, to]) === String(daysOf(view[name]));
    return isBackward ? undefined : { ...base, ...(!isSame && { [name]: rangeOf(from, to) }) };
  }
  const text = valueIn('pet').trim();
  const petId = parseWrittenId(text);
  const isWrong = text !== '' && petId === undefined;
  problem.textContent = isWrong ? 'This is no id of a pet: up to 19 digits.' : '';
  return isWrong ? undefined : { ...base, petId };
}

/** Number of the latest count per range; results of earlier ones are dropped. */
const asked = new Map<string, number>();

/** Counts the orders of each preset of a range. */
export function readPresetCounts(screen: Screen, name: RangeName): void {
  const { view } = screen.state;
  for (const each of PRESETS_OF[name])
    void readCount(screen, `${name} ${each}`, { ...view, [name]: each });
}

/** Counts the orders of the days in the form of a range, unless they are those of the list. */
export function readRangeCount(screen: Screen, name: RangeName, form: HTMLFormElement): void {
  const view = applyFilter(name, screen.state.view, form);
  const range = `${name} draft`;
  const isShown = view?.[name] === screen.state.view[name];
  if (isShown) screen.change(({ rangeCounts }) => rangeCounts.delete(range));
  else if (view !== undefined) void readCount(screen, range, view);
}

/** Reads a count; a failure is not shown, since the page is of use without it. */
async function readCount(screen: Screen, range: string, view: View): Promise<void> {
  const { session } = screen.state;
  if (session === undefined) return;
  const number = (asked.get(range) ?? 0) + 1;
  asked.set(range, number);
  try {
    const { signal } = session.ending;
    const counts = await session.client.countOrders(filterOf(view), { signal });
    if (asked.get(range) === number) screen.change((state) => state.rangeCounts.set(range, counts));
  } catch (error) {
    screen.problemOf(session, error);
  }
}
