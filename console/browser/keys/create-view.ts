import type { Key } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { capital, count, day } from '../format.ts';
import { icon } from '../icons.ts';
import { searchOf } from '../list/address.ts';
import { dayText, today } from '../list/range.ts';
import type { Session } from '../sign-in.ts';
import type { State } from '../state.ts';
import { endOf, type KeyDraft, PRESETS } from './new-key.ts';
import { ABILITIES, abilitiesOf } from './scopes.ts';

/** The form of a new key, beside what it comes to. */
export function createPage({ session, view, newKey }: State, actions: Actions) {
  if (newKey === undefined) return nothing;
  const back = { ...view, keys: 'valid' } as const;
  const { name, preset, sent } = newKey;
  const radio = (value: string, text: string, hint: string) =>
    html`<label><input type="radio" name="user" value=${value} .checked=${newKey.user === value} /> <span>${text} <span class="hint">${hint}</span></span></label>`;
  return html`<div class="head-row"><a class="button quiet icon-only" href=${searchOf(back)} aria-label="Back to the keys" @click=${actions.follow(back)}>${icon('left')}</a><h1 tabindex="-1">Create key</h1></div>
    <form class="create" @submit=${actions.keys.create} @input=${actions.keys.edit} novalidate>
      <div class="choices">
        <fieldset ?disabled=${sent !== undefined}>
          <label class="lab" for="key-name">Name</label>
          <input id="key-name" name="name" maxlength="100" autocomplete="off" spellcheck="false" dir="auto" aria-describedby="name-hint" autofocus .value=${name} />
          <p class="small" id="name-hint">A person or a program. It stands beside each change that the key makes.</p>
        </fieldset>
        <fieldset ?disabled=${sent !== undefined}><legend>Start from</legend>
          <div class="presets">${PRESETS.map((each) => html`<label><input class="hidden" type="radio" name="preset" value=${each.id} .checked=${each.id === preset} />${icon(each.icon)}<b>${each.name}</b><span>${abilitiesOf(each)}</span></label>`)}</div>
        </fieldset>
        <fieldset ?disabled=${sent !== undefined}><legend>Permissions</legend>
          <ul class="abilities">${ABILITIES.map((each) => abilityChoice(each, newKey, session!))}</ul>
        </fieldset>
        <fieldset ?disabled=${sent !== undefined}><legend>Used by</legend><div class="radios">
          ${radio('person', 'A person', 'is invited by a link or a code, and gets the secret in their own browser')}
          ${radio('program', 'A program', 'its secret is shown here, once')}</div>
        </fieldset>
        <fieldset ?disabled=${sent !== undefined}><legend>Expires</legend><div class="radios in-line">
          ${endChoices(newKey, session!.key)}</div>
          ${ownEnd(session!.key)}
        </fieldset>
      </div>
      ${summary(newKey, session!, actions)}
    </form>`;
}

/** The choices of when a key ends; `asIs` in front of them. */
export function endChoices(
  { ends, day: typed }: { readonly ends: string; readonly day: string },
  { expiresAt }: Key,
  asIs?: string,
) {
  const choices = [
    ...(asIs === undefined ? [] : [['as-is', asIs]]),
    ['30', 'in 30 days'],
    ['90', 'in 90 days'],
    ['own', expiresAt === undefined ? 'never' : `${day(expiresAt)}, as yours`],
    ['day', 'on a day'],
  ];
  const last = expiresAt === undefined ? '9998-12-31' : dayText(new Date(expiresAt));
  return html`${choices.map(([value, text]) => html`<label><input type="radio" name="ends" value=${value} .checked=${ends === value} /> <span>${text}</span></label>`)}
    ${ends === 'day' ? html`<input type="date" name="day" aria-label="Last day" min=${dayText(today())} max=${last} .value=${typed} />` : nothing}`;
}

/** Says before it surprises that a key ends with the one that makes it. */
export const ownEnd = ({ expiresAt }: Key) =>
  expiresAt === undefined
    ? nothing
    : html`<p class="small">Not after your own key, which ends on ${day(expiresAt)}: what it makes ends then, too.</p>`;

type Ability = (typeof ABILITIES)[number];

/** "Read orders" */
const abilityText = ({ verb, object }: Ability) => capital(`${verb} ${object}`);

/** What the own key lacks cannot be given. */
function abilityChoice(ability: Ability, draft: KeyDraft, { key }: Session) {
  const { scope, hint, limit, verb } = ability;
  const words = (text: string) =>
    html`<span><b>${abilityText(ability)}</b> <span class="hint">${text}</span></span><code>${scope}</code>`;
  if (!key.scopes.includes(scope))
    return html`<li class="lacking"><p>${icon('lock')}${words('Your key cannot, so this one cannot either')}</p></li>`;
  const isOn = draft.scopes.includes(scope);
  const most = limit && key[limit];
  return html`<li><label><input type="checkbox" name="scope" value=${scope} .checked=${isOn} />${words(hint)}</label>
    ${
      limit === undefined || !isOn
        ? nothing
        : html`<label class="limit">At most <input name=${limit} inputmode="numeric" autocomplete="off" maxlength="10" placeholder=${most === undefined ? 'any' : String(most)} .value=${draft[limit]} /> an hour<span class="hidden">: ${verb}s</span>
        <span class="hint">${most === undefined ? 'Empty for any number.' : `Yours: ${count(most)}. A key cannot have more than the key that makes it.`}</span></label>`
    }</li>`;
}

function summary(draft: KeyDraft, { key }: Session, actions: Actions) {
  const { name, scopes, sent, isActing, problem, user } = draft;
  const end = endOf(draft, key);
  const can = ABILITIES.filter(({ scope }) => key.scopes.includes(scope)).map((each) => {
    const { scope, limit } = each;
    const typed = limit === undefined ? '' : draft[limit].trim() || String(key[limit] ?? '');
    const isOn = scopes.includes(scope);
    return html`<li class=${isOn ? '' : 'not'}>${icon(isOn ? 'check' : 'cross')}<span>${isOn ? nothing : html`<span class="hidden">not: </span>`}${abilityText(each)}${isOn && typed !== '' ? `, up to ${typed} an hour` : ''}</span></li>`;
  });
  return html`<aside class="card can-do" aria-labelledby="can"><div class="card-head"><h2 id="can">What <bdi>${name.trim() || 'the key'}</bdi> can do</h2></div>
    <ul>${can}</ul>
    <dl class="facts"><dt>Expires</dt><dd>${end === undefined ? 'never' : day(end)}</dd><dt>Environment</dt><dd>${key.environment}</dd><dt>Made by</dt><dd><bdi>${key.name}</bdi></dd></dl>
    <div class="foot">
      <div role="alert">${problem === undefined ? nothing : html`<p class="notice">${icon('warning')}<span>${problem}</span></p>`}</div>
      <p class="small">${user === 'person' ? 'You get an invitation for this person, good once, for an hour.' : 'The secret is shown once, right after this.'}</p>
      <button class="primary" aria-disabled=${isActing}>${isActing ? 'Creating…' : sent === undefined ? 'Create key' : 'Create it again'}</button>
      ${sent !== undefined && !isActing ? html`<button type="button" class="quiet" @click=${actions.keys.startAnother}>Start another form</button>` : nothing}
    </div></aside>`;
}
