import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { DAY_MS, now } from '../clock.ts';
import { clockTime, count, day, time } from '../format.ts';
import { type IconName, icon } from '../icons.ts';
import type { Dialog, KeyQuestion, State } from '../state.ts';
import { endChoices, ownEnd } from './create-view.ts';
import { invitationLink } from './invitation.ts';
import { isOnlyInvited } from './keys.ts';
import { lastUse } from './keys-view.ts';
import { abilitiesOf } from './scopes.ts';

type DialogOf<Kind extends Dialog['kind']> = Dialog & { readonly kind: Kind };

/** Keeps a dialog that must be closed by its button. */
const keep = (event: Event) => event.preventDefault();

/** The dialog about a key, unless it is about something else. */
export function keyDialog(state: State, dialog: Dialog, actions: Actions) {
  if (dialog.kind === 'made') return madeDialog(dialog, actions);
  if (dialog.kind === 'rotate') return rotateDialog(dialog, actions);
  if (dialog.kind === 'change') return changeDialog(state, dialog, actions);
  return dialog.kind === 'revoke' ? revokeDialog(state, dialog, actions) : undefined;
}

/** The secret, or the invitation, of a key. Neither is anywhere else, so only its button closes the dialog. */
function madeDialog({ made, isNew, isCodeHidden }: DialogOf<'made'>, actions: Actions) {
  const { key, secret, invitation } = made;
  const { name, expiresAt, invitedUntil } = key;
  const text = secret ?? (invitation && invitationLink(invitation));
  const isInvitation = invitation !== undefined;
  const title = isInvitation ? 'is invited' : isNew ? 'has its key' : 'has another secret';
  const what = isInvitation ? 'Link' : 'Secret';
  return html`<dialog class="ask made" aria-labelledby="ask" @cancel=${keep}>
    <div class="inner"><h2 id="ask">${icon('done')}<span><bdi>${name}</bdi> ${title}</span></h2>
      ${
        text === undefined
          ? html`<p class="notice">${icon('warning')}<span><b>Its secret cannot be shown any more.</b> The key is there: replace its secret, or revoke it.</span></p>`
          : html`<p class="notice">${icon('warning')}<span><b>Shown only now.</b> ${isInvitation ? html`Good once, until ${invitedUntil === undefined ? 'an hour from now' : clockTime(invitedUntil)}. The secret is made in the browser that accepts it: send it only to its person.` : 'The service keeps no copy. If it is lost, replace the secret.'}</span></p>
        <div class="handed"><div>
          <label for="handed">${what}</label>
          <div class="copied"><input id="handed" class="code" readonly spellcheck="false" .value=${text} /><button type="button" autofocus @click=${actions.copy(text, what)}>${icon('copy')}Copy</button></div>
          <p class="small">${isInvitation ? 'Opens the console, where it is accepted. It is of no use after that.' : 'For programs, as a bearer token, and for the sign-in page.'}</p>
          <dl class="facts"><dt>The key</dt><dd>${abilitiesOf(key)}</dd><dt>Expires</dt><dd>${expiresAt === undefined ? 'never' : day(expiresAt)}</dd></dl>
        </div>${
          isInvitation
            ? html`<div class="code-box">${isCodeHidden ? nothing : html`<qr-code role="img" aria-label=${`Code of the invitation of ${name}`} value=${text}></qr-code>`}
          ${isCodeHidden ? nothing : html`<p class="small">Scan it with the phone that will use the key</p>`}
          <button type="button" class="link" aria-expanded=${!isCodeHidden} @click=${actions.keys.toggleCode}>${isCodeHidden ? 'Show the code' : 'Hide the code'}</button></div>`
            : nothing
        }</div>`
      }</div>
    <div class="end"><p class="small">Esc does not close this.</p><button type="button" class="primary" @click=${actions.closeDialog}>${text === undefined ? 'Close' : 'I have it, close'}</button></div>
  </dialog>`;
}

/** The old secret, by how it is replaced; without a hint, the time is shown at which it ends. */
const ROTATIONS = [
  ['86400', 'for 24 hours', undefined],
  ['604800', 'for 7 days', undefined],
  ['0', 'no longer', 'if it has leaked; what uses it stops at once'],
  [
    'invitation',
    'until an invitation is accepted',
    'for a person, who gets the new one in their own browser',
  ],
] as const;

function rotateDialog(dialog: DialogOf<'rotate'>, actions: Actions) {
  const { key, choice, isActing, isSent, problem } = dialog;
  const isInvited = isOnlyInvited(key);
  const radio = ([value, text, hint]: (typeof ROTATIONS)[number]) => {
    const until = new Date(now().getTime() + Number(value) * 1_000);
    return html`<label><input type="radio" name="choice" value=${value} ?disabled=${isSent} .checked=${choice === value} /><span><b>${text}</b> <span class="hint">${hint ?? html`until ${time(until.toISOString())}`}</span></span></label>`;
  };
  return question(
    {
      ...{ key, isActing, problem },
      title: html`${isInvited ? 'Invite' : 'Replace the secret of'} <bdi>${key.name}</bdi>${isInvited ? ' again' : ''}?`,
      text: isInvited
        ? 'The link before ends at once. The new one is shown once, and good for an hour.'
        : 'It stays the same key: its name, what it may do and its history. The new secret is shown once.',
      notice: isInvited
        ? nothing
        : html`<p class="notice calm">${icon('clock')}<span><b>Last used: ${lastUse(key)}</b><br />Give whatever uses it time to change over.</span></p>`,
      choices: isInvited
        ? nothing
        : html`<fieldset class="radios"><legend>The old secret works</legend>${ROTATIONS.map(radio)}</fieldset>${key.formerSecretUntil === undefined ? nothing : html`<p class="small">The secret before that ends now.</p>`}`,
      keep: isInvited ? 'Do not invite' : 'Keep the secret',
      go: isInvited ? 'Invite again' : 'Replace the secret',
      going: isInvited ? 'Inviting…' : 'Replacing…',
    },
    actions,
  );
}

function changeDialog({ session }: State, dialog: DialogOf<'change'>, actions: Actions) {
  const { key, name, endsFormer, isActing, problem } = dialog;
  const { expiresAt, formerSecretUntil } = key;
  const asIs = expiresAt === undefined ? 'never, as it is' : `${day(expiresAt)}, as it is`;
  return question(
    {
      ...{ key, isActing, problem },
      title: html`Edit <bdi>${key.name}</bdi>`,
      text: 'It keeps its secret, and what it may do. To let it do less, use the API; to let it do more, create another one.',
      notice: nothing,
      choices: html`<label class="given"><span>Name</span><input name="name" maxlength="100" autocomplete="off" spellcheck="false" dir="auto" autofocus .value=${name} /></label>
        <fieldset class="radios"><legend>Expires</legend>${endChoices(dialog, session!.key, asIs)} ${ownEnd(session!.key)}</fieldset>
        ${formerSecretUntil === undefined ? nothing : html`<label class="again"><input type="checkbox" name="endsFormer" .checked=${endsFormer} /> End the old secret now, not ${time(formerSecretUntil)}</label>`}`,
      ...{ keep: 'Leave as it is', go: 'Change key', going: 'Changing…', hasField: true },
    },
    actions,
  );
}

/** What has used a key within this time most likely goes on using it. */
const IN_USE_MS = 7 * DAY_MS;

function revokeDialog(
  { keys, session }: State,
  { key, isActing, problem }: DialogOf<'revoke'>,
  actions: Actions,
) {
  const { webhooks, formerSecretUntil, invitedUntil, lastUsedAt } = key;
  const made = keys?.found?.filter((each) => each.createdBy === key.id && each.state === 'valid');
  const line = (picture: IconName, what: string, text: string) =>
    html`<li class=${picture}>${icon(picture)}<span><b>${what}</b> ${text}</span></li>`;
  const isInUse = lastUsedAt !== undefined && now().getTime() - Date.parse(lastUsedAt) < IN_USE_MS;
  const keysMade = made?.length ?? 0;
  return question(
    {
      ...{ key, isActing, problem },
      title: html`Revoke <bdi>${key.name}</bdi>?`,
      text: 'It stops within a second, everywhere, and cannot be taken back.',
      notice: html`<p class="notice ${isInUse ? '' : 'calm'}">${icon(isInUse ? 'warning' : 'clock')}<span><b>Last used: ${lastUse(key)}</b>${isInUse ? html`<br />Something depends on it. To change over without a gap, replace the secret.` : nothing}</span></p>`,
      choices: html`<ul class="stops">
        ${line('crossed', 'Every request', `with it is refused${formerSecretUntil === undefined ? '' : ', with both secrets'}.`)}
        ${line('crossed', 'Every console', 'signed in with it is signed out.')}
        ${invitedUntil === undefined ? nothing : line('crossed', 'Its invitation', 'ends.')}
        ${line('check', 'A change of many orders', 'whose request has arrived is carried out.')}
        ${webhooks === 0n ? nothing : line('check', webhooks === 1n ? 'Its webhook' : `Its ${count(webhooks)} webhooks`, `${webhooks === 1n ? 'goes' : 'go'} on, until ${webhooks === 1n ? 'it is' : 'they are'} paused or deleted${session!.may.webhooks ? ', at Webhooks' : ''}.`)}
        ${keysMade === 0 ? nothing : line('check', keysMade === 1 ? 'The key that it made' : `The ${count(keysMade)} keys that it made`, `${keysMade === 1 ? 'goes' : 'go'} on, until revoked.`)}
        ${line('check', 'Its orders and history', 'stay, under its name.')}</ul>`,
      ...{ keep: 'Keep key', go: 'Revoke key', going: 'Revoking…', isDangerous: true },
    },
    actions,
  );
}

interface Question extends KeyQuestion {
  readonly title: unknown;
  readonly text: string;
  readonly notice: unknown;
  readonly choices: unknown;
  /** The buttons; the first one has the focus. */
  readonly keep: string;
  readonly go: string;
  readonly going: string;
  readonly isDangerous?: boolean;
  /** Whether a text field has the focus in their place. */
  readonly hasField?: boolean;
}

function question(asked: Question, actions: Actions) {
  const { isActing, problem, title, text, notice, choices, isDangerous } = asked;
  return html`<dialog role="alertdialog" class="ask" aria-labelledby="ask" aria-describedby="consequence" @cancel=${actions.closeDialog}>
    <form @submit=${actions.keys.confirm} @input=${actions.keys.answer} novalidate>
    <div class="inner"><h2 id="ask">${title}</h2><p id="consequence">${text}</p>${notice} ${choices}
      <div role="alert">${problem === undefined ? nothing : html`<p class="notice">${icon('warning')}<span>${problem}</span></p>`}</div></div>
    <div class="end"><button type="button" ?autofocus=${!asked.hasField} aria-disabled=${isActing} @click=${actions.closeDialog}>${asked.keep}</button>
      <button class=${isDangerous ? 'danger' : 'primary'} aria-disabled=${isActing}>${isActing ? asked.going : asked.go}</button></div>
    </form></dialog>`;
}
