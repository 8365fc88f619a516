import { ConflictError, type OrderRecord, ResponseError } from '@store-orders/client';
import { inWords } from '../format.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import {
  type Draft,
  type DraftFields,
  forgetDraft,
  keepDraft,
  newDraft,
  orderOf,
  sentDraft,
} from './draft.ts';

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

  /** Opens an empty form, or one for an order to be placed instead of another. */
  open(order?: OrderRecord): void {
    if (this.#screen.state.session?.may.place === true) this.#show(newDraft(order));
  }

  /** Opens the form that was sent before the page was loaded again. */
  resume(): void {
    const draft = sentDraft();
    if (draft !== undefined && this.#screen.state.session?.may.place === true) {
      this.#show(draft, UNKNOWN);
    }
  }

  /** Another form, after one whose outcome is not known. */
  startAnother(): void {
    forgetDraft();
    this.#show(newDraft());
  }

  edit(fields: Partial<DraftFields>): void {
    this.#screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind !== 'place' || dialog.draft.isSent) return;
      state.dialog = { ...dialog, draft: { ...dialog.draft, ...fields } };
    });
  }

  /** Sends the form. It is kept until its outcome is known, so that it places one order however often it is sent. */
  async submit(): Promise<void> {
    const screen = this.#screen;
    const { dialog, session } = screen.state;
    if (dialog?.kind !== 'place' || dialog.isActing || session === undefined) return;
    const order = orderOf(dialog.draft);
    if ('problem' in order) {
      this.#show(dialog.draft, order.problem);
      return;
    }
    const draft = { ...dialog.draft, isSent: true };
    keepDraft(draft);
    screen.change((state) => {
      state.dialog = { kind: 'place', draft, isActing: true, problem: undefined };
    });
    const { idempotencyKey } = draft;
    try {
      const { signal } = session.ending;
      const { id } = await session.client.placeOrder(order, { idempotencyKey, signal });
      forgetDraft();
      screen.change((state) => Object.assign(state, { dialog: undefined, placed: id }));
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
      : `Not placed. ${inWords(error)}`;
    this.#show({ ...draft, isSent: false }, text);
  }

  #show(draft: Draft, problem?: string): void {
    this.#screen.change((state) => {
      state.dialog = { kind: 'place', draft, isActing: false, problem };
    });
  }
}

const UNKNOWN =
  'The store has not answered, so the order may have been placed. Placing it again is safe: this form places one order.';
