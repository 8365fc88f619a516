import { AuthenticationError } from '@store-orders/client';
import { render, type TemplateResult } from 'lit-html';
import { capital, inWords } from './format.ts';
import type { View } from './list/address.ts';
import type { Session } from './sign-in.ts';
import { nameOf, State } from './state.ts';

/** How long a message is shown. */
const TOAST_MS = 6_000;
/** Enter has no effect in a question or form that was opened less than this ago: it was meant for what was there before, or is of a scanner. */
const OPENED_MS = 500;

/** Draws the state again after each change. */
export class Screen {
  readonly state: State;
  readonly element: HTMLElement;
  /** Called when a request fails because the key is no longer valid. */
  readonly #onSignedOut: () => void;
  readonly #page: (state: State) => TemplateResult;
  #isDrawing = false;
  /** The element that had the focus before the modal dialog. */
  #opener: Element | null = null;
  #toastTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    element: HTMLElement,
    view: View,
    page: (state: State) => TemplateResult,
    onSignedOut: () => void,
  ) {
    // It has the text that is shown while the script is loaded.
    element.replaceChildren();
    this.element = element;
    this.state = new State(view);
    this.#page = page;
    this.#onSignedOut = onSignedOut;
  }

  change(change: (state: State) => unknown): void {
    change(this.state);
    this.draw();
  }

  set(fields: Partial<State>): void {
    this.change((state) => Object.assign(state, fields));
  }

  /** Draws once for all changes of this turn. */
  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(() => {
      this.#isDrawing = false;
      const focused = document.activeElement;
      const hadFocus = focused !== document.body && this.element.contains(focused);
      render(this.#page(this.state), this.element);
      document.title = titleOf(this.state);
      this.#showModals(focused);
      if (hadFocus && !focused!.isConnected) this.#keepFocus();
      if (this.element.querySelector('dialog') === null) this.#opener = null;
    });
  }

  /** Dialogs are drawn closed: only a script can open a modal one. */
  #showModals(focused: Element | null): void {
    for (const dialog of this.element.querySelectorAll('dialog')) {
      if (dialog.open) continue;
      this.#opener = focused;
      dialog.showModal();
      // Its focus can be at its end, which is out of sight of its heading where text is large.
      dialog.scrollTop = 0;
      const openedAt = performance.now();
      dialog.addEventListener('keydown', (event) => {
        const isSoon = performance.now() - openedAt < OPENED_MS;
        if (event.key === 'Enter' && isSoon && dialog.matches('.ask:not(.palette)'))
          event.preventDefault();
      });
      // Browsers close a dialog after several Escapes, whatever its handlers do. If the state still has it, it is opened again.
      dialog.addEventListener('close', () => this.draw(), { once: true });
    }
  }

  /** Moves the focus if its element is gone: to the element that opened the dialog, or to the nearest element of the same task. */
  #keepFocus(): void {
    const opener = this.#opener?.isConnected === true ? (this.#opener as HTMLElement) : undefined;
    opener?.focus();
    if (document.activeElement !== document.body) return;
    const places = ['dialog [autofocus]', '.details h2', '.bulk', '[aria-current="true"] a', 'h1'];
    for (const place of places) {
      this.element.querySelector<HTMLElement>(place)?.focus();
      if (document.activeElement !== document.body) return;
    }
  }

  /** Resolves after the drawing of this turn. */
  async drawn(): Promise<void> {
    await Promise.resolve();
  }

  /** Moves the focus to what was read, unless a person has gone to a form or a menu meanwhile. */
  async focusRead(selector: string): Promise<void> {
    if (!document.activeElement?.closest('form, [popover]')) await this.focus(selector);
  }

  /** Moves the focus after the next drawing. @returns what has it; null if there is none */
  async focus<Own extends HTMLElement>(selector: string): Promise<Own | null> {
    await this.drawn();
    const element = this.element.querySelector<Own>(selector);
    element?.focus();
    return element;
  }

  /** Shows a message for some seconds. */
  toast(text: string, isProblem = false): void {
    clearTimeout(this.#toastTimer);
    this.set({ toast: { text, isProblem } });
    this.#toastTimer = setTimeout(() => this.set({ toast: undefined }), TOAST_MS);
  }

  /**
   * Returns why a request of a session failed, in words; undefined if that session has ended, as it does now if the key
   * is no longer valid.
   */
  problemOf(session: Session, error: unknown): string | undefined {
    if (this.state.session !== session) return undefined;
    if (!(error instanceof AuthenticationError)) return inWords(error);
    this.#onSignedOut();
    return undefined;
  }
}

function titleOf(state: State): string {
  const { session, view, detail, invitation } = state;
  if (invitation !== undefined) return `Invitation · ${nameOf(state)}`;
  if (session === undefined) return `Sign in · ${nameOf(state)}`;
  return `${detail === undefined ? capital(view.page) : `Order ${detail.id}`} · ${nameOf(state)}`;
}
