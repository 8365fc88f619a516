import type { OrderStatus } from '@store-orders/client';
import { closePopover, fieldOf, instead } from '../handlers.ts';
import {
  COLUMNS,
  type Column,
  MAX_VIEWS,
  type Preferences,
  storePreferences,
} from '../preferences.ts';
import type { Screen } from '../screen.ts';
import { writtenReference } from '../search/search.ts';
import { hiddenIn } from '../state.ts';
import { STATUSES, searchOf, type View } from './address.ts';
import { applyFilter, type FilterName, readPresetCounts, readRangeCount } from './filters.ts';
import type { RangeName } from './range.ts';

/** What a user does to choose what the list shows. @param go goes to a view */
export function viewActions(screen: Screen, go: (view: View) => void) {
  const prefer = (preferences: Partial<Preferences>) =>
    screen.change((state) => {
      state.preferences = { ...state.preferences, ...preferences };
      storePreferences(state.preferences);
    });
  const goToReference = async (view: View) =>
    go({ ...view, reference: await writtenReference(screen, view.reference) });
  const heads = new ResizeObserver((entries) => {
    const head = entries[0]!.target.parentElement;
    const isUnseen = (each: string) =>
      head?.querySelector<HTMLElement>(`.${each}`)?.offsetWidth === 0;
    const unseen = COLUMNS.filter(isUnseen);
    if (unseen.join() !== screen.state.unseen.join()) screen.set({ unseen });
  });
  return {
    filter: (name: FilterName) =>
      instead((event) => {
        const form = event.currentTarget as HTMLFormElement;
        const view = applyFilter(name, screen.state.view, form);
        if (view === undefined) return;
        closePopover(event);
        if (name === 'reference' && view.prefix === '') void goToReference(view);
        else go(view);
      }),
    /** Counts the orders of the range in the form. */
    preview:
      (name: RangeName) =>
      ({ currentTarget }: Event) =>
        readRangeCount(screen, name, currentTarget as HTMLFormElement),
    openRange: (name: RangeName) => (event: Event) => {
      if ((event as ToggleEvent).newState !== 'open') return;
      readPresetCounts(screen, name);
      readRangeCount(screen, name, (event.currentTarget as Element).querySelector('form')!);
    },
    toggleStatus: (status: OrderStatus) => (event: Event) => {
      const { view } = screen.state;
      const before = view.statuses.length === 0 ? STATUSES : view.statuses;
      const chosen = STATUSES.filter((each) => before.includes(each) !== (each === status));
      // Without any status, the list would have all of them.
      if (chosen.length === 0) {
        (event.currentTarget as HTMLInputElement).checked = true;
        return;
      }
      const statuses = chosen.length === STATUSES.length ? [] : chosen;
      go({ ...view, statuses, order: undefined });
    },
    /** Keeps the view under the name in the form. */
    keepView: instead((event) => {
      const name = fieldOf(event, 'name').value.trim();
      if (name === '') return;
      const { preferences, view } = screen.state;
      const others = preferences.views.filter((each) => each.name !== name);
      if (others.length === MAX_VIEWS) {
        screen.toast(`At most ${MAX_VIEWS} views are kept`, true);
        return;
      }
      const shown = { ...view, without: hiddenIn(screen.state), order: undefined };
      prefer({ views: [...others, { name, search: searchOf(shown) }] });
      closePopover(event);
      screen.toast(`View ${name} kept in this browser`);
    }),
    forgetView: (name: string) => () => {
      const { views } = screen.state.preferences;
      prefer({ views: views.filter((each) => each.name !== name) });
    },
    toggleColumn: (column: Column) => () => {
      const before = hiddenIn(screen.state);
      const hidden = COLUMNS.filter((each) => before.includes(each) !== (each === column));
      const { view } = screen.state;
      // The columns of a link or of a named view are not those of the user.
      if (view.without === undefined) prefer({ hidden });
      else go({ ...view, without: hidden });
    },
    /** Observes which columns of the head have room. */
    observeHead: (head: Element | undefined) => {
      heads.disconnect();
      // Its columns are drawn after it.
      queueMicrotask(() => {
        for (const column of head?.querySelectorAll('th') ?? []) heads.observe(column);
      });
    },
    prefer: (preferences: Partial<Preferences>) => () => prefer(preferences),
  };
}
