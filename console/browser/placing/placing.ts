import { ConflictError, type OrderRecord, ResponseError } from '@store-orders/client';
import { html, nothing } from 'lit-html';
import type { Actions } from '../actions.ts';
import { timeZone } from '../format.ts';
import { icon } from '../icons.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Dialog } from '../state.ts';
import { type Draft, forgetDraft, keepDraft, newDraft, orderOf, sentDraft } from './draft.ts';

/** Orders whose refusal is an error of the server: no ids are left. */
const REFUSED_BY_SERVER = 507;

/** Places orders from a form. */
export class Placing {
  readonly #screen: Screen;
  /** Called with each order that was placed. */
  readonly #onPlaced: (id: bigint) => void;

  constructor(screen: Screen, onPlaced: (id: bigint) => void) {
    this.#screen = screen;
    this.#onPlaced = onPlaced;
  }

  /** Opens a form for an order to be placed instead of another; an empty one, unless the outcome of the last one is not known. */
  open(order?: OrderRecord): void {
    const by = this.#by;
    if (by === undefined) return;
    const sent = order === undefined ? sentDraft(by) : undefined;
    if (sent === undefined) this.#show(newDraft(by, order));
    else this.#show(sent, UNKNOWN);
  }

  /** Opens the form that was sent before the page was loaded again. */
  resume(): void {
    if (this.#by !== undefined && sentDraft(this.#by) !== undefined) this.open();
  }

  /** Another form, after one whose outcome is not known. */
  startAnother(): void {
    forgetDraft();
    this.open();
  }

  /** The id of the API key, if it may place orders. */
  get #by(): string | undefined {
    const { session } = this.#screen.state;
    return session?.may.place === true ? session.key.id : undefined;
  }

  edit(fields: Partial<Draft>): void {
    this.#screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind !== 'place' || dialog.draft.isSent) return;
      // What was said about a field is about what it had.
      const problem = (dialog.field ?? '') in fields ? undefined : dialog.problem;
      state.dialog = { ...dialog, draft: { ...dialog.draft, ...fields }, problem };
    });
  }

  /** Sends the form. It is kept until its outcome is known, so that it places one order however often it is sent. */
  async submit(): Promise<void> {
    const screen = this.#screen;
    const { dialog, session } = screen.state;
    if (dialog?.kind !== 'place' || dialog.isActing || session === undefined) return;
    const order = orderOf(dialog.draft);
    if (order.problem !== undefined) {
      this.#show(dialog.draft, order.problem, order.field);
      return;
    }
    const draft = { ...dialog.draft, isSent: true };
    keepDraft(draft);
    screen.set({ dialog: { ...dialog, draft, isActing: true, problem: undefined } });
    const { idempotencyKey } = draft;
    try {
      const { signal } = session.ending;
      const { id } = await session.client.placeOrder(order, { idempotencyKey, signal });
      forgetDraft();
      screen.set({ dialog: undefined, placed: id });
      screen.toast(`Order ${id} was placed`);
      this.#onPlaced(id);
    } catch (error) {
      this.#fail(session, draft, error);
    }
  }

  #fail(session: Session, draft: Draft, error: unknown): void {
    const problem = this.#screen.problemOf(session, error);
    if (problem === undefined) return;
    const isRefused =
      error instanceof ResponseError && (error.status < 500 || error.status === REFUSED_BY_SERVER);
    if (!isRefused) {
      this.#show(draft, UNKNOWN);
      return;
    }
    forgetDraft();
    const isTaken = error instanceof ConflictError && error.code === 'reference_taken';
    const text = isTaken
      ? 'Reference: this key has placed another order with it.'
      : `Not placed. ${problem}`;
    this.#show({ ...draft, isSent: false }, text, isTaken ? 'reference' : undefined);
  }

  #show(draft: Draft, problem?: string, field?: string): void {
    this.#screen.set({ dialog: { kind: 'place', draft, isActing: false, problem, field } });
  }
}

const UNKNOWN =
  'The store has not answered, so the order may have been placed. Placing it again is safe: this form places one order.';

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
          <label class="wide">Reference <span class="hint">optional, must be new</span><input name="reference" maxlength="255" autocomplete="off" spellcheck="false" dir="auto" .value=${reference} /></label>
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
