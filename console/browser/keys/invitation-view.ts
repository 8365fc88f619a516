import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { clockTime } from '../format.ts';
import { icon, mark } from '../icons.ts';
import type { InvitationState, State } from '../state.ts';
import { abilitiesOf } from './scopes.ts';

/** The page of an invitation: what it is for, and then the secret that was made, once. */
export function invitationPage(state: State, invitation: InvitationState, actions: Actions) {
  const { secret } = invitation;
  return html`<main class="sign-in">${mark()}
    ${secret === undefined ? offer(invitation, actions) : keepSecret(state, secret, actions)}</main>`;
}

const problemOf = (problem: string | undefined) =>
  html`<div role="alert">${problem === undefined ? nothing : html`<p class="problem">${icon('warning')}<span>${problem}</span></p>`}</div>`;

function offer(invitation: InvitationState, actions: Actions) {
  const { key, isSignedIn, isActing, problem, isOver } = invitation;
  const { store } = document.documentElement.dataset;
  const later = isSignedIn ? 'Keep the present key' : 'Sign in with another key';
  const until = key?.expiresAt;
  return html`<form class="card" @submit=${actions.acceptInvitation}>
    <h1 tabindex="-1">Invitation to <bdi>${store}</bdi></h1>
    <p role="status">${key === undefined && isActing ? 'Reading it…' : nothing}</p>
    ${
      key === undefined || isOver
        ? nothing
        : html`<dl class="facts"><dt>For</dt><dd><b><bdi>${key.name}</bdi></b></dd><dt>The key</dt><dd>${abilitiesOf(key)}</dd>
      ${until === undefined ? nothing : html`<dt>Accept by</dt><dd>${clockTime(until)}</dd>`}</dl>
    <p class="small">${icon('lock')}<span>The secret is made when you accept, for this browser only. The link is of no use after that.</span></p>
    ${isSignedIn ? html`<p class="notice">${icon('warning')}<span>This browser is signed in with another key. This tab uses the new one from then on.</span></p>` : nothing}`
    }
    ${problemOf(problem)}
    ${isOver ? nothing : key === undefined ? (isActing ? nothing : html`<button type="button" class="primary" @click=${actions.readInvitation}>Try again</button>`) : html`<button class="primary" aria-disabled=${isActing}>${isActing ? 'Making the key…' : isSignedIn ? 'Accept, and replace the key in this tab' : 'Accept and sign in'}</button>`}
    <button type="button" class="quiet" @click=${actions.declineInvitation}>${later}</button>
  </form>`;
}

/** A form as password managers expect it: the store is the user name, and the secret the password. */
function keepSecret({ isSigningIn, signInProblem }: State, secret: string, actions: Actions) {
  const { environment = '' } = document.documentElement.dataset;
  return html`<form class="card" @submit=${actions.useSecret}>
    <h1 tabindex="-1">Your key is made</h1>
    <p>Let the browser save it, or copy it to your password manager: it is shown only now.</p>
    <input class="hidden" type="text" name="username" autocomplete="username" value="store-orders ${environment}" readonly tabindex="-1" aria-hidden="true" />
    <label for="key">API key</label>
    <div class="field">
      <input id="key" name="key" type="password" autocomplete="new-password" spellcheck="false" readonly .value=${secret} />
      <button type="button" class="icon-only" aria-label="Show the key" aria-pressed="false" @click=${actions.showKey}>${icon('eye')}</button>
    </div>
    <button type="button" @click=${actions.copy(secret, 'Key')}>${icon('copy')}Copy the key</button>
    ${problemOf(signInProblem)}
    <button class="primary" aria-disabled=${isSigningIn}>${isSigningIn ? 'Signing in…' : 'Open the console'}</button>
    ${signInProblem === undefined ? nothing : html`<button type="button" class="quiet" @click=${actions.declineInvitation}>Sign in with another key</button>`}
  </form>`;
}
