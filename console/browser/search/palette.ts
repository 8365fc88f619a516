import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { othersForSelected } from '../changing/selected-view.ts';
import { count, marked, orders as ordersText } from '../format.ts';
import { type IconName, icon } from '../icons.ts';
import { onPage, viewOf } from '../list/address.ts';
import { STANDARD_VIEWS } from '../preferences.ts';
import type { Found, State } from '../state.ts';
import { MAX_HITS, namedBy, onlyHit, whySeveral } from './search.ts';
import { hit } from './search-view.ts';

/** Keys whose activity is offered. */
const MAX_PEOPLE = 8;

/** What can be done, by its name. */
interface Command {
  readonly group: string;
  readonly name: string;
  readonly icon: IconName;
  readonly run: (event: Event) => void;
  /** The shortcut that does the same. */
  readonly keys: readonly string[];
}

/** What can be done now: with the open order, with orders, on other pages, and with the console. */
function commandsOf(state: State, actions: Actions): readonly Command[] {
  const { session, view, detail, preferences, people, selected, selecting } = state;
  const { read, place, ship, cancel, follow, webhooks, keys: manage } = session!.may;
  const { id, order } = detail ?? {};
  const isPending = order?.status === 'pending';
  const commands: Command[] = [];
  const addTo =
    (group: string) =>
    (isOffered: boolean, name: string, icon: IconName, run: Command['run'], ...keys: string[]) => {
      if (isOffered) commands.push({ group, name, icon, run, keys });
    };
  const goTo = (page: typeof view.page) => actions.follow(onPage(view, page));
  const chosen = addTo(`${count(selected.size)} selected`);
  const some = selected.size > 0 && selecting === undefined;
  const many = ordersText(selected.size);
  chosen(some && ship, `Ship ${many}…`, 'truck', actions.actOnSelected('ship'));
  chosen(some && cancel, `Cancel ${many}…`, 'crossed', actions.actOnSelected('cancel'));
  for (const [name, icon, run] of othersForSelected(state, actions)) chosen(some, name, icon, run);
  const open = addTo(`Order ${id}`);
  open(isPending && ship, `Ship order ${id}…`, 'truck', actions.act('ship'), 's');
  open(isPending && cancel, `Cancel order ${id}…`, 'crossed', actions.act('cancel'), 'c');
  const isOpen = order !== undefined;
  open(isOpen, `Print the slip of order ${id}`, 'print', actions.print('slips', [id!]));
  open(isOpen, `Copy the id ${id}`, 'copy', actions.copy(String(id), 'Id'), 'y');
  const orders = addTo('Orders');
  orders(place, 'Place order', 'plus', actions.openForm(), 'n');
  orders(read, 'Scan orders', 'scan', goTo('scan'), 'g', 's');
  for (const { name, search } of [...STANDARD_VIEWS, ...preferences.views])
    orders(read, `View: ${name}`, 'eye', actions.follow(viewOf(search)));
  orders(read, 'Export the list as CSV', 'download', actions.exportCsv(), 'e');
  const page = addTo('Go to');
  page(true, 'Orders', 'list', goTo('orders'), 'g', 'o');
  page(follow, 'Activity', 'clock', goTo('activity'), 'g', 'a');
  page(webhooks, 'Webhooks', 'link', goTo('webhooks'));
  page(manage, 'Keys', 'key', goTo('keys'), 'g', 'k');
  page(manage, 'Create key…', 'plus', actions.keys.start());
  for (const { by = '', byName = by } of people.slice(0, MAX_PEOPLE)) {
    const did = actions.follow({ ...onPage(view, 'activity'), by });
    page(by !== '', `Activity of ${byName}`, 'clock', did);
  }
  const console = addTo('Console');
  console(true, 'Keyboard shortcuts', 'key', actions.showDialog({ kind: 'keys' }), '?');
  console(true, 'Sign out', 'off', actions.signOut);
  return commands;
}

/** Whether a name has each word of a text; a number is an order, and not in the name of what can be done with one. */
function matches(name: string, text: string): boolean {
  if (/^\d+$/.test(text)) return false;
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => name.toLowerCase().includes(word));
}

/** What Enter does with the orders that were found, if it does not open the first one. */
const enterDoes = (found: Found): string =>
  namedBy(found).length > 1
    ? `${whySeveral(found)} Enter, or a scan, opens none of them.`
    : found.beginning.length > 1
      ? 'Enter lists the orders whose reference begins with this.'
      : 'Enter opens none of several.';

/** The dialog that finds actions and orders by what is typed. Enter does what is first. */
export function paletteDialog(state: State, actions: Actions) {
  const { search } = state;
  const text = search.trim();
  const found = text !== '' && state.found?.text === search ? state.found : undefined;
  const commands = commandsOf(state, actions).filter(({ name }) => matches(name, text));
  const parts = found?.containing?.orders.slice(0, MAX_HITS) ?? [];
  const orders = found === undefined ? [] : [...namedBy(found), ...found.beginning, ...parts];
  const item = ({ name, icon: image, keys, run }: Command) =>
    html`<button type="button" class="item" @click=${actions.close(run)}>${icon(image)}<span><bdi>${marked(name, text)}</bdi></span> ${keys.map((key) => html`<kbd aria-hidden="true">${key}</kbd>`)}</button>`;
  return html`<dialog class="ask palette" aria-label="Commands" @cancel=${actions.closeDialog}>
    <form @submit=${actions.runFirst(actions.submitSearch)} @keydown=${actions.searchKey}>
      <div class="field">${icon('search')}<input aria-label="What to do, or an order" .value=${search} @input=${actions.search} autocomplete="off" spellcheck="false" maxlength="255" autofocus placeholder="What to do, or an order" /><kbd aria-hidden="true">Esc</kbd></div>
      <div role="status">
        ${[...Map.groupBy(commands, ({ group }) => group)].map(([group, some]) => html`<p class="head">${group}</p>${some.map(item)}`)}
        ${orders.length === 0 ? nothing : html`${commands.length > 0 || onlyHit(found!) !== undefined ? html`<p class="head">Found</p>` : html`<p class="small">${enterDoes(found!)}</p>`}${orders.map((order) => hit(state, order, actions))}`}
        ${commands.length + orders.length === 0 ? html`<p class="none">Nothing is named so, and no order has this id or reference.</p>` : nothing}
      </div>
      <p class="how small" aria-hidden="true"><span><kbd>↑</kbd><kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> do it</span><span>An id or a reference works here, too</span></p>
    </form>
  </dialog>`;
}
