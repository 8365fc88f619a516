import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { timeZone } from '../format.ts';
import { icon } from '../icons.ts';
import type { Dialog } from '../state.ts';
import type { Draft } from './draft.ts';

/** The form of a new order. */
export function placeDialog(
  { draft, isActing, problem }: Dialog & { readonly kind: 'place' },
  actions: Actions,
) {
  const { pet, quantity, day, time, reference, isSent, instead } = draft;
  return html`<dialog class="ask place" aria-labelledby="ask" @cancel=${actions.closeDialog}>
    <form @submit=${actions.placeOrder} @input=${actions.editDraft} novalidate>
      <div class="inner"><h2 id="ask">Place an order</h2>
        ${instead === undefined ? nothing : insteadOf(instead)}
        <fieldset ?disabled=${isSent}>
          <label>Pet <input name="pet" inputmode="numeric" autocomplete="off" placeholder="Id, such as 412" autofocus .value=${pet} /></label>
          <label>Quantity <input name="quantity" inputmode="numeric" autocomplete="off" .value=${quantity} /></label>
          <label>Ships <span class="hint">optional</span><input name="day" type="date" min="1970-01-01" max="9998-12-31" .value=${day} /></label>
          <label>At <span class="hint">${timeZone()}</span><input name="time" type="time" .value=${time} /></label>
          <label class="wide">Reference <span class="hint">optional, used once</span><input name="reference" maxlength="255" autocomplete="off" spellcheck="false" dir="auto" .value=${reference} /></label>
        </fieldset>
        <div role="alert">${problem === undefined ? nothing : html`<p class="notice">${icon('warning')}<span>${problem}</span></p>`}</div>
      </div>
      <div class="end">
        ${isSent && !isActing ? html`<button type="button" class="quiet" @click=${actions.startAnother}>Start another form</button>` : nothing}
        <button type="button" @click=${actions.closeDialog}>Close</button>
        <button class="primary" aria-disabled=${isActing}>${isActing ? 'Placing…' : isSent ? 'Place it again' : 'Place order'}</button>
      </div>
    </form>
  </dialog>`;
}

function insteadOf({ id, reference }: NonNullable<Draft['instead']>) {
  return html`<p>Instead of order ${id}, which was cancelled.${reference === undefined ? nothing : html` Its reference <bdi>${reference}</bdi> stays with it.`}</p>`;
}
