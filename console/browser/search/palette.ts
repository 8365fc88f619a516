import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { type IconName, icon } from '../icons.ts';
import { onPage, viewOf } from '../list/address.ts';
import { STANDARD_VIEWS } from '../preferences.ts';
import type { State } from '../state.ts';
import { MAX_HITS, namedBy } from './search.ts';
import { hit } from './search-view.ts';

/** What can be done, by its name. */
interface Command {
  readonly name: string;
  readonly icon: IconName;
  /** The shortcut that does the same. */
  readonly keys: readonly string[];
  readonly run: (event: Event) => void;
}

/** What can be done now: first with the open order, then with orders, then with the page. */
function commandsOf(state: State, actions: Actions): Command[] {
  const { session, view, detail, preferences } = state;
  const { may } = session!;
  const command = (
    name: string,
    icon: IconName,
    run: Command['run'],
    ...keys: readonly string[]
  ): Command => ({ name, icon, keys, run });
  const { id, order } = detail ?? {};
  const goTo = (page: typeof view.page) => actions.follow(onPage(view, page));
  const views = [...STANDARD_VIEWS, ...preferences.views].map(({ name, search }) =>
    command(name, 'columns', actions.follow(viewOf(search))),
  );
  const isPending = order?.status === 'pending';
  return [
    ...(isPending && may.ship
      ? [command(`Ship order ${id}…`, 'truck', actions.act('ship'), 's')]
      : []),
    ...(isPending && may.cancel
      ? [command(`Cancel order ${id}…`, 'crossed', actions.act('cancel'), 'c')]
      : []),
    ...(order === undefined
      ? []
      : [command(`Print the slip of order ${id}`, 'box', actions.printOpen)]),
    ...(id === undefined
      ? []
      : [command(`Copy the id ${id}`, 'copy', actions.copy(String(id), 'Id'), 'y')]),
    ...(may.place ? [command('Place order', 'plus', actions.openForm, 'n')] : []),
    ...(may.read ? [command('Scan orders', 'scan', goTo('scan'), 'g', 's'), ...views] : []),
    ...(may.read ? [command('Export the list as CSV', 'download', actions.exportCsv, 'e')] : []),
    command('Orders', 'list', goTo('orders'), 'g', 'o'),
    ...(may.follow ? [command('Activity', 'clock', goTo('activity'), 'g', 'a')] : []),
    ...(may.webhooks ? [command('Webhooks', 'link', goTo('webhooks'))] : []),
    ...(may.keys
      ? [
          command('Keys', 'key', goTo('keys'), 'g', 'k'),
          command('Create key…', 'plus', actions.keys.start()),
        ]
      : []),
    command('Keyboard shortcuts', 'key', actions.showDialog({ kind: 'keys' }), '?'),
    command('Sign out', 'off', actions.signOut),
  ];
}

/** Whether a name has each word of a text. */
function matches(name: string, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/);
  return words.every((word) => name.toLowerCase().includes(word));
}

/** The dialog that finds actions and orders by what is typed. Enter does what is first. */
export function paletteDialog(state: State, actions: Actions) {
  const { search, found } = state;
  const text = search.trim();
  const commands = commandsOf(state, actions).filter(({ name }) => matches(name, text));
  const { beginning = [], containing } = found ?? {};
  const parts = containing?.orders.slice(0, MAX_HITS) ?? [];
  const orders =
    text !== '' && found?.text === search ? [...namedBy(found), ...beginning, ...parts] : [];
  return html`<dialog class="ask palette" aria-label="Commands" @cancel=${actions.closeDialog}>
    <form @submit=${actions.runFirst} @keydown=${actions.searchKey}>
      <div class="field">${icon('search')}<input aria-label="What to do, or an order" .value=${search} @input=${actions.search} autocomplete="off" spellcheck="false" maxlength="255" autofocus placeholder="What to do, or an order" /><kbd aria-hidden="true">Esc</kbd></div>
      <div role="status">
        ${commands.map(({ name, icon: image, keys, run }) => html`<button type="button" class="item" @click=${actions.close(run)}>${icon(image)}<span>${name}</span> ${keys.map((key) => html`<kbd aria-hidden="true">${key}</kbd>`)}</button>`)}
        ${orders.map((order) => hit(state, order, actions))}
        ${commands.length + orders.length === 0 ? html`<p class="none">Nothing is named so, and no order has this id or reference.</p>` : nothing}
      </div>
    </form>
  </dialog>`;
}
