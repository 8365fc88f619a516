import type { ManagedKey } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { DAY_MS, now } from '../clock.ts';
import { ago, capital, count, day, daysFrom, time, waiting } from '../format.ts';
import { icon } from '../icons.ts';
import { onPage, searchOf } from '../list/address.ts';
import type { QuestionKind, State } from '../state.ts';
import { createPage } from './create-view.ts';
import { isOnlyInvited } from './keys.ts';
import { PRESETS } from './new-key.ts';
import { ABILITIES, abilitiesOf } from './scopes.ts';

const HOUR_MS = 3_600_000;
/** A key that was not used for so long may not be needed any more. */
const UNUSED_DAYS = 90;
/** A key that ends so soon needs somebody. */
const SOON_DAYS = 7;

/** The states of keys, with their names, and what is said if no key is in one. */
const STATES = [
  ['valid', 'In use', 'No key is in use.'],
  ['expired', 'Expired', 'No key has expired.'],
  ['revoked', 'Revoked', 'No key was revoked.'],
] as const;

/** The keys of the store; without the scope to see them, the own one. */
export function keysPage(state: State, actions: Actions) {
  const { session, view, keys } = state;
  if (!session!.may.keys) return noScope(state, actions);
  if (view.keys === 'create') return createPage(state, actions);
  const found = keys?.found;
  const segment = (name: (typeof STATES)[number][0], text: string) => {
    const to = { ...view, keys: name };
    const many = found?.filter((each) => each.state === name).length;
    return html`<a href=${searchOf(to)} aria-current=${name === view.keys} @click=${actions.follow(to)}>${text} <span class="number">${many === undefined ? '' : count(many)}</span></a>`;
  };
  const isFailed = found === undefined && keys?.problem !== undefined;
  return html`<div class="head-row"><h1 tabindex="-1">Keys</h1>
      <nav class="segments" aria-label="State">${STATES.map(([name, text]) => segment(name, text))}</nav>
      <p class="small wide-only">Each person and program, and what it may do</p>
      <div class="tools"><button type="button" class="primary" @click=${actions.keys.start()}>${icon('plus')}Create key…</button></div></div>
    ${isFailed ? failing(keys!.problem!, actions) : table(state, actions)}`;
}

function failing(problem: string, actions: Actions) {
  return html`<div class="empty" role="alert">${icon('warning')}<h2>The keys could not be read</h2>
    <p>${problem} To take a key away now, on the server of the store:</p>
    ${command('store-orders keys revoke KEY_ID', actions)}
    <button type="button" class="primary" @click=${actions.keys.read}>${icon('again')}Try again</button></div>`;
}

const command = (text: string, actions: Actions) =>
  html`<p class="command"><code>${text}</code><button type="button" class="quiet icon-only" aria-label="Copy the command" @click=${actions.copy(text, 'Command')}>${icon('copy')}</button></p>`;

function noScope({ session }: State, actions: Actions) {
  const { key } = session!;
  const { id, name, expiresAt } = key;
  const scopes = ABILITIES.map(({ scope }) => scope).filter((each) => !key.scopes.includes(each));
  return html`<div class="head-row"><h1 tabindex="-1">Keys</h1></div>
    <div class="empty">${icon('lock')}<h2>Your key cannot see the other keys</h2>
      <p>Ask whoever gave you yours. A new key, or another limit, needs a key with the scope <code>keys:manage</code>.</p>
      <dl class="facts"><dt>Your key</dt><dd><b><bdi>${name}</bdi></b> <code>${id}</code></dd>
        <dt>What it does</dt><dd>${abilitiesOf(key)}</dd>
        <dt>What it does not</dt><dd>${abilitiesOf({ scopes })}</dd>
        <dt>Expires</dt><dd>${expiresAt === undefined ? 'never' : html`${day(expiresAt)} <span class="hint">${daysFrom(expiresAt)}</span>`}</dd></dl>
      <p>No key has the scope? On the server of the store:</p>
      ${command('store-orders keys create --name "Kim" --scope keys:manage', actions)}</div>`;
}

/** The own key first, then the oldest. */
function table(state: State, actions: Actions) {
  const { keys, session, view } = state;
  const own = session!.key.id;
  const found = (keys?.found ?? []).filter((each) => each.state === view.keys);
  const sorted = [
    ...found.filter(({ id }) => id === own),
    ...found.filter(({ id }) => id !== own),
  ].slice(0, keys?.most);
  const heads = [
    ['name', 'Key'],
    ['may', 'Permissions'],
    ['used', 'Last used'],
    ['ends', view.keys === 'revoked' ? 'Revoked' : 'Expires'],
    ['made', 'Created'],
    ['do', html`<span class="hidden">Actions</span>`],
  ] as const;
  return html`${keys?.problem === undefined ? nothing : html`<p class="notice" role="alert">${icon('warning')}<span>These may not be all keys. ${keys.problem}</span><button type="button" @click=${actions.keys.read}>Try again</button></p>`}
    <table class="key-list" role="table"><caption class="hidden">Keys</caption>
      <thead role="rowgroup"><tr role="row">${heads.map(([name, text]) => html`<th scope="col" role="columnheader" class=${name}>${text}</th>`)}</tr></thead>
      <tbody role="rowgroup">${repeat(
        sorted,
        ({ id }) => id,
        (key) => row(state, key, actions),
      )}</tbody></table>
    <p role="status" class="small under">${under(state, found.length)}</p>
    ${found.length > sorted.length ? html`<div class="more"><button type="button" @click=${actions.keys.showMore}>Show more</button></div>` : nothing}
    ${view.keys === 'valid' && keys?.found?.length === 1 ? empty(actions) : nothing}`;
}

function under(state: State, many: number) {
  const { keys, view, session } = state;
  if (keys?.found === undefined) return waiting(state, 'Loading…');
  if (many > 0)
    return `Keys of ${session!.key.environment}. “Last used” is to the hour. A key stops within a second when it is revoked.`;
  return STATES.find(([name]) => name === view.keys)![2];
}

function empty(actions: Actions) {
  return html`<div class="empty">${icon('key')}<h2>Only your key has access</h2>
    <p>One key for each person and each program: then Activity has the name with each change, and one can be taken away without the others.</p>
    <ul class="presets">${PRESETS.map((preset) => html`<li><button type="button" @click=${actions.keys.start(preset.id)}>${icon(preset.icon)}<b>${preset.name}</b><span>${abilitiesOf(preset)}</span></button></li>`)}</ul></div>`;
}

const isBefore = (text: string | undefined, at: number) =>
  text !== undefined && Date.parse(text) < at;

/** When a key was used last, which is known to the hour. */
export function lastUse({ lastUsedAt }: Pick<ManagedKey, 'lastUsedAt'>): string {
  if (lastUsedAt === undefined) return 'not yet';
  return isBefore(lastUsedAt, now().getTime() - HOUR_MS) ? ago(lastUsedAt) : 'within the last hour';
}

function row(state: State, key: ManagedKey, actions: Actions) {
  const { id, name, expiresAt, revokedAt, createdAt, createdBy, lastUsedAt } = key;
  const isOwn = id === state.session!.key.id;
  const at = now().getTime();
  const isValid = key.state === 'valid';
  const isUnused = isValid && isBefore(lastUsedAt ?? createdAt, at - UNUSED_DAYS * DAY_MS);
  const isEnding = isValid && isBefore(expiresAt, at + SOON_DAYS * DAY_MS);
  const maker = state.keys?.found?.find((each) => each.id === createdBy)?.name ?? createdBy;
  const end = revokedAt ?? expiresAt;
  return html`<tr role="row">
    <th scope="row" role="rowheader"><b><bdi title=${name}>${name}</bdi></b>${isOwn ? html` <span class="tag">You</span>` : nothing}<code>${id}</code></th>
    <td role="cell" class="may">${capital(abilitiesOf(key))} ${pill(key)}</td>
    <td role="cell" class="used"><span class=${isUnused ? 'soon' : ''}>${isOwn ? 'just now' : lastUse(key)}</span></td>
    <td role="cell" class="ends" data-name=${revokedAt === undefined ? 'Expires' : 'Revoked'}><span class=${isEnding && revokedAt === undefined ? 'soon' : ''}>${end === undefined ? 'Never' : html`${day(end)} <span class="sub">${daysFrom(end)}</span>`}</span></td>
    <td role="cell" class="made">${day(createdAt)} <span class="sub"><bdi>${maker ?? 'an operator'}</bdi></span></td>
    <td role="cell" class="do">${menu(state, key, actions)}</td></tr>`;
}

/** What is not settled with a key. */
function pill(key: ManagedKey) {
  const { state, invitedUntil, formerSecretUntil } = key;
  const about = (text: string, until: string) =>
    html`<span class="pill soon">${icon('again')}<span>${text} ${time(until)}</span></span>`;
  if (state !== 'valid') return nothing;
  const isOpen = invitedUntil !== undefined && !isBefore(invitedUntil, now().getTime());
  if (isOpen) return about('Invited until', invitedUntil);
  if (isOnlyInvited(key)) return about('Invitation ended', invitedUntil!);
  return formerSecretUntil === undefined
    ? nothing
    : about('Old secret works until', formerSecretUntil);
}

function menu({ session, view }: State, key: ManagedKey, actions: Actions) {
  const { id, name, state } = key;
  const { may, key: own } = session!;
  const mayChange = id !== own.id && key.scopes.every((each) => own.scopes.includes(each));
  const of = `menu-${id}`;
  const did = { ...onPage(view, 'activity'), by: id };
  const item = (text: string, picture: 'list' | 'again' | 'crossed', kind: QuestionKind) =>
    html`<button type="button" class="item ${kind}" popovertarget=${of} popovertargetaction="hide" @click=${actions.keys.ask(kind, key)}>${icon(picture)}${text}</button>`;
  return html`<button type="button" class="quiet icon-only" popovertarget=${of} aria-label="Actions for ${name}">${icon('more')}</button>
    <div class="popover" id=${of} popover role="dialog" aria-label="Actions for ${name}">
      ${mayChange ? nothing : html`<p class="head">${id === own.id ? 'Another key can change your own.' : 'It may do more than your key, which therefore cannot change it.'}</p>`}
      ${mayChange && state !== 'revoked' ? item('Edit…', 'list', 'change') : nothing}
      ${mayChange && state === 'valid' ? item(isOnlyInvited(key) ? 'Invite again…' : 'Replace the secret…', 'again', 'rotate') : nothing}
      ${may.follow ? html`<a class="item" href=${searchOf(did)} @click=${actions.follow(did)}>${icon('clock')}Activity</a>` : nothing}
      ${mayChange && state !== 'revoked' ? item('Revoke…', 'crossed', 'revoke') : nothing}
    </div>`;
}
