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
