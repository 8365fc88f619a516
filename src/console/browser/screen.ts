import { render } from 'lit-html';
import type { Actions } from './actions.ts';
import { inWords } from './format.ts';
import type { View } from './query.ts';
import { isSignedOut } from './session.ts';
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

  /** Ends the session if the key is no longer valid; otherwise `tell` gets the reason in words. */
  failed(error: unknown, tell: (problem: string) => void): void {
    if (isSignedOut(error)) this.#onSignedOut();
    else tell(inWords(error));
    this.draw();
  }
}
