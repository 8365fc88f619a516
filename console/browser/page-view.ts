import { html, nothing } from 'lit-html';
import type { Actions } from './actions.ts';
import { activityPage } from './activity/activity-view.ts';
import { dialogView } from './changing/dialogs-view.ts';
import { bulkBar } from './changing/selected-view.ts';
import { clockProblem } from './clock.ts';
import { detailsView } from './details.ts';
import { capital, clockTime, timeZone } from './format.ts';
import { icon, mark } from './icons.ts';
import { invitationPage } from './keys/invitation-view.ts';
import { keysPage } from './keys/keys-view.ts';
import { abilitiesOf } from './keys/scopes.ts';
import { onPage, searchOf, withoutFilters } from './list/address.ts';
import { filterBar, phoneTools } from './list/filters-view.ts';
import { isEmptyStore, maySelect } from './list/list-state.ts';
import { ordersList } from './list/list-view.ts';
import { paper } from './printing/paper.ts';
import { scanPage } from './scanning/scan-view.ts';
import { searchBox } from './search/search-view.ts';
import { signInPage } from './sign-in-view.ts';
import { nameOf, type State } from './state.ts';
import { webhooksPage } from './webhooks.ts';

const TABS = ['orders', 'activity', 'keys', 'webhooks'] as const;

/** The whole page. */
export function page(state: State, actions: Actions) {
  if (state.invitation !== undefined) return invitationPage(state, state.invitation, actions);
  if (state.session === undefined) return signInPage(state, actions);
  const { detail, isWide, toast } = state;
  const details = detail === undefined ? nothing : detailsView(state, detail, actions);
  return html`
    ${appBar(state, actions)} <section aria-label="Notices">${banners(state, actions)}</section>
    <div class="split">
      <main class=${state.view.page}>${mainOf(state, actions)}</main>
      ${isWide ? details : nothing}
    </div>
    ${state.view.page === 'orders' && state.session.may.read ? hints(state) : nothing}
    ${isWide ? nothing : details}
    ${bulkBar(state, actions)}
    <p class="toast" role="status">${toast === undefined ? nothing : html`<span class=${toast.isProblem ? 'failed' : ''}>${icon(toast.isProblem ? 'warning' : 'done')}${toast.text}</span>`}</p>
    ${state.dialog === undefined ? nothing : dialogView(state, state.dialog, actions)}
    ${paper(state)}
  `;
}

function mainOf(state: State, actions: Actions) {
  const { may } = state.session!;
  const { page } = state.view;
  if (page === 'keys') return keysPage(state, actions);
  if (page === 'activity' && may.follow) return activityPage(state, actions);
  if (page === 'webhooks' && may.webhooks) return webhooksPage(state, actions);
  if (page === 'scan' && may.read) return scanPage(state, actions);
  if (page === 'orders' && may.read)
    return html`${filterBar(state, actions)} ${ordersList(state, actions)}`;
  const what = page === 'scan' ? 'orders' : page;
  const placesOnly = may.place && !may.read;
  return html`<div class="head"><h1 tabindex="-1">${capital(page)}</h1></div>
    <div class="empty">${icon('lock')}<h2>This key may not see ${what}</h2>
      <p>Sign in with a key that may.${placesOnly ? ' It can place orders.' : ''}</p>
      ${placesOnly ? html`<button type="button" class="primary" @click=${actions.openForm()}>${icon('plus')}Place an order</button>` : nothing}
      <button type="button" class=${placesOnly ? '' : 'primary'} @click=${actions.signOut}>Sign out</button></div>`;
}

function appBar(state: State, actions: Actions) {
  const { session, view, isNarrow } = state;
  const { may, key } = session!;
  const home = { ...withoutFilters(view), page: 'orders' } as const;
  const isStaging = key.environment !== 'production';
  const isList = view.page === 'orders' && may.read;
  return html`<header class="bar">
    <a class="skip" href="#" @click=${actions.skip}>Skip to the ${view.page === 'orders' ? 'orders' : 'page'}</a>
    <a class="brand" href=${searchOf(home)} @click=${actions.follow(home)}>${mark()}<span><bdi>${nameOf(state)}</bdi></span></a>
    ${isNarrow && !isStaging ? nothing : html`<span class="env ${key.environment}">${isStaging ? 'Staging' : 'Production'}</span>`}
    ${isNarrow ? nothing : html`<nav class="tabs" aria-label="Views">${tabs(state, actions)}</nav>`}
    ${may.read ? searchBox(state, actions) : nothing}
    ${isNarrow && isList ? phoneTools(state, actions) : nothing}
    ${may.read ? liveState(state, actions) : html`<span class="connection"></span>`}
    ${isNarrow && may.place ? html`<button type="button" class="quiet icon-only" aria-label="Place order" @click=${actions.openForm()}>${icon('plus')}</button>` : nothing}
    ${keyMenu(state, actions)}
  </header>`;
}

/** Links to the pages that the key may see. */
function tabs({ session, view }: State, actions: Actions) {
  const { follow, webhooks, keys } = session!.may;
  const isOffered = { orders: true, activity: follow, webhooks, keys };
  const shown = view.page === 'scan' ? 'orders' : view.page;
  return TABS.filter((name) => isOffered[name]).map((name) => {
    const to = onPage(view, name);
    return html`<a href=${searchOf(to)} aria-current=${name === shown ? 'page' : 'false'} @click=${actions.follow(to)}>${capital(name)}</a>`;
  });
}

function liveState({ live, liveUntil }: State, actions: Actions) {
  if (live === 'off' && liveUntil !== undefined)
    return html`<button type="button" class="quiet connection" title="This key may not follow changes (changes:read)" aria-label="Not live, as of ${clockTime(liveUntil)}: reload" @click=${actions.reload}>${icon('again')}<span>Not live<span class="wide-only">, as of ${clockTime(liveUntil)}</span></span></button>`;
  const isLive = live === 'live';
  const text = isLive ? 'Live' : live === 'starting' ? 'Connecting…' : 'Not live';
  const name = isLive ? 'live' : live === 'starting' ? 'wait' : 'off';
  return html`<span class="connection ${live}" role="status">${icon(name)}<span>${text}</span></span>`;
}

function keyMenu(state: State, actions: Actions) {
  const { session, preferences, isNarrow } = state;
  const { key } = session!;
  return html`<button type="button" class="quiet who" popovertarget="menu" aria-label="Signed in with the key ${key.name}">
      ${icon(isNarrow ? 'menu' : 'key')}<span><bdi>${key.name}</bdi></span>${icon('down')}</button>
    <div class="popover menu" id="menu" popover role="dialog" aria-label="Key">
      ${isNarrow ? html`<nav class="pages" aria-label="Views">${tabs(state, actions)}</nav>` : nothing}
      <p class="head"><b><bdi>${key.name}</bdi></b><br /><code>${key.id}</code><br />This key ${abilitiesOf(key)}.</p>
      <button type="button" class="item" popovertarget="menu" popovertargetaction="hide" @click=${actions.showDialog({ kind: 'keys' })}>Keyboard shortcuts <kbd>?</kbd></button>
      <button type="button" class="item narrow-only" popovertarget="menu" popovertargetaction="hide" @click=${actions.exportCsv()}>Export CSV</button>
      <label class="item narrow-only"><input type="checkbox" .checked=${preferences.isCompact} @change=${actions.prefer({ isCompact: !preferences.isCompact })} />Compact rows</label>
      <a class="item" href="/reference">API reference</a>
      <button type="button" class="item" @click=${actions.signOut}>Sign out</button>
    </div>`;
}

function banners(state: State, actions: Actions) {
  const { live, liveUntil, session } = state;
  const { may, key } = session!;
  const clock = clockProblem();
  return html`
    ${
      live === 'lost'
        ? html`<p class="banner" role="alert">${icon('warning')}<span><b>Not live.</b> ${liveUntil === undefined ? 'The service cannot be reached' : `The list is as of ${clockTime(liveUntil)}`}; it reconnects by itself.</span>
        <button type="button" class="link" @click=${actions.reconnect}>Try now</button></p>`
        : nothing
    }
    ${may.read && !may.cancel && !may.ship ? html`<p class="banner">${icon('lock')}<span><b>This key ${abilitiesOf(key)}.</b> To ship or cancel, sign in with another one.</span></p>` : nothing}
    ${clock === undefined ? nothing : html`<p class="banner">${icon('clock')}<span>${clock}</span></p>`}
  `;
}

function hints(state: State) {
  const hint = (keys: readonly string[], text: string) =>
    html`<span>${keys.map((key) => html`<kbd>${key}</kbd>`)} ${text}</span>`;
  return html`<footer class="hints">
    ${state.preferences.hasShortcuts ? html`<div aria-hidden="true">${isEmptyStore(state) ? nothing : html`${hint(['j', 'k'], 'move')} ${hint(['Enter'], 'open')} ${maySelect(state) ? hint(['x'], 'select') : nothing} `}${hint(['/'], 'search')} ${hint(['Ctrl', 'K'], 'commands')} ${hint(['Esc'], 'close')} ${hint(['?'], 'all keys')}</div>` : nothing}
    <p>Times in ${timeZone()}</p>
  </footer>`;
}
