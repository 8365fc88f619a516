import { render } from 'lit-html';
import type { Actions } from './actions.ts';
import { inWords } from './format.ts';
import type { View } from './query.ts';
import { isSignedOut, type Session } from './session.ts';
import { initialState, type State } from './state.ts';
import { page } from './views.ts';

/** What is shown: the state, drawn again after each change. */
export class Screen {
  readonly state: State;
  readonly element: HTMLElement;
  /** Called when a request fails because the key is no longer valid. */
  readonly #onSignedOut: () => void;
  readonly #actions: Actions;
  #isDrawing = false;

  constructor(
    element: HTMLElement,
    view: View,
    { actions, onSignedOut }: { readonly actions: Actions; readonly onSignedOut: () => void },
  ) {
    this.element = element;
    this.state = initialState(view);
    this.#actions = actions;
    this.#onSignedOut = onSignedOut;
  }

  change(change: (state: State) => unknown): void {
    change(this.state);
    this.draw();
  }

  /** Draws once for all changes of this turn. */
  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(() => {
      this.#isDrawing = false;
      render(page(this.state, this.#actions), this.element);
    });
  }

  /** Moves the focus, once what has changed is drawn. */
  async focus(selector: string): Promise<void> {
    await Promise.resolve();
    this.element.querySelector<HTMLElement>(selector)?.focus();
  }

  /**
   * Returns why a request of a session failed, in words; undefined if that session has ended, as it does now if the key
   * is no longer valid.
   */
  problemOf(session: Session, error: unknown): string | undefined {
    if (this.state.session !== session) return undefined;
    if (!isSignedOut(error)) return inWords(error);
    this.#onSignedOut();
    return undefined;
  }
}
