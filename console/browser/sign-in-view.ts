import { html, nothing } from 'lit-html';
import type { Actions } from './actions.ts';
import { icon, mark } from './icons.ts';
import type { State } from './state.ts';

/** A form as password managers expect it: the store is the user name, and the key the password. */
export function signInPage({ signInProblem, isSigningIn, isResuming }: State, actions: Actions) {
  if (isResuming) return resumingPage(signInProblem, actions);
  const { environment = '', store } = document.documentElement.dataset;
  return html`<main class="sign-in">
    ${mark()}
    <form class="card" @submit=${actions.signIn}>
      <div class="title"><h1 tabindex="-1">Sign in to <bdi>${store}</bdi></h1><span class="env ${environment}">${environment === 'production' ? 'Production' : 'Staging'}</span></div>
      <p>The console shows the store’s orders with your own API key. Whoever runs the store gives you one.</p>
      <input class="hidden" type="text" name="username" autocomplete="username" value="store-orders ${environment}" readonly tabindex="-1" aria-hidden="true" />
      <label for="key">API key</label>
      <div class="field">
        <input id="key" name="key" type="password" autocomplete="current-password" spellcheck="false" autocapitalize="off" placeholder=${environment === 'staging' ? 'so_test_…' : 'so_live_…'}
          required autofocus aria-describedby="kept${signInProblem === undefined ? '' : ' refused'}" aria-invalid=${signInProblem !== undefined} />
        <button type="button" class="icon-only" aria-label="Show the key" aria-pressed="false" @click=${actions.showKey}>${icon('eye')}</button>
      </div>
      <div role="alert" id="refused">${signInProblem === undefined ? nothing : html`<p class="problem">${icon('warning')}<span>${signInProblem}</span></p>`}</div>
      <p class="small" id="kept">${icon('lock')}<span>The key stays in the open tabs of the console. Closing them signs you out.</span></p>
      <button class="primary" aria-disabled=${isSigningIn}>${isSigningIn ? 'Signing in…' : 'Sign in'}</button>
    </form>
    <p class="small links"><a href="/reference">API reference</a> <a href="/reference#keys">What keys may do</a></p>
  </main>`;
}

/** The page while the known key is tried. */
function resumingPage(problem: string | undefined, actions: Actions) {
  return html`<main class="sign-in">${mark()}
    <div class="card"><h1 tabindex="-1">Connecting…</h1>
      <p role="status">${problem === undefined ? nothing : html`${icon('warning')}<span>${problem} It is tried again by itself.</span>`}</p>
      ${
        problem === undefined
          ? nothing
          : html`<button type="button" class="primary" @click=${actions.resume}>Try now</button>
        <button type="button" @click=${actions.signOut}>Sign out</button>`
      }</div>
  </main>`;
}
