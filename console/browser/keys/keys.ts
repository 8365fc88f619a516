import {
  type KeyRotation,
  type KeySecret,
  type ManagedKey,
  ResponseError,
  UnknownOutcomeError,
} from '@store-orders/client';
import type { View } from '../list/address.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Dialog } from '../state.ts';
import { draftOf, type KeyDraft, newKeyOf, PRESETS, type Preset } from './new-key.ts';

/** The keys of the store, as they were read last. */
export interface KeysState {
  readonly found: readonly ManagedKey[] | undefined;
  readonly problem: string | undefined;
  /** How many rows are shown at most. */
  readonly most: number;
}

/** A question about a key. */
export interface KeyQuestion {
  readonly key: ManagedKey;
  readonly isActing: boolean;
  readonly problem: string | undefined;
}

/** How a secret is replaced: with an overlap in seconds, or by an invitation. */
export type Rotation = '86400' | '604800' | '0' | 'invitation';

/** Rows that are added by "Show more". */
const STEP = 200;

const NOT_KNOWN = 'The store has not answered, so it may be done.';

/** Reads keys, and creates, rotates and revokes them. */
export class Keys {
  readonly #screen: Screen;
  readonly #go: (view: View) => void;
  #reading: AbortController | undefined;

  constructor(screen: Screen, go: (view: View) => void) {
    this.#screen = screen;
    this.#go = go;
  }

  /** Prepares what the view shows of keys. */
  show(): void {
    const { session, view, newKey } = this.#screen.state;
    if (session === undefined || view.page !== 'keys') return;
    if (view.keys === 'create' && newKey === undefined) this.#begin(session);
    void this.read();
  }

  /** Reads the keys, if the view shows them. The previous ones stay on the page until then. */
  async read(): Promise<void> {
    const screen = this.#screen;
    const { session, view } = screen.state;
    this.#reading?.abort();
    if (session?.may.keys !== true || view.page !== 'keys') return;
    const reading = new AbortController();
    this.#reading = reading;
    try {
      const signal = AbortSignal.any([session.ending.signal, reading.signal]);
      const found = await session.client.listKeys({}, { signal });
      if (!signal.aborted) this.#show({ found, problem: undefined });
    } catch (error) {
      if (reading.signal.aborted) return;
      const problem = screen.problemOf(session, error);
      if (problem !== undefined) this.#show({ problem });
    }
  }

  #show(fields: Partial<KeysState>): void {
    this.#screen.change((state) => {
      const before = state.keys ?? { found: undefined, problem: undefined, most: STEP };
      state.keys = { ...before, ...fields };
    });
  }

  showMore(): void {
    this.#show({ most: (this.#screen.state.keys?.most ?? 0) + STEP });
  }

  /** Opens the form of a new key. What was typed before stays, unless a preset is chosen. */
  start(preset?: Preset['id']): void {
    const { session, view, newKey } = this.#screen.state;
    if (session?.may.keys !== true) return;
    if (preset !== undefined || newKey === undefined) this.#begin(session, preset);
    this.#go({ ...view, page: 'keys', keys: 'create', order: undefined });
    void this.#screen.focus('.create [name="name"]');
  }

  /** A form with the choices of a preset, and the name that was typed. */
  choose(preset: Preset['id']): void {
    const { session, newKey } = this.#screen.state;
    if (session !== undefined && newKey?.sent === undefined) this.#begin(session, preset);
  }

  /** Another form, after one whose outcome is not known. */
  startAnother(): void {
    const { session } = this.#screen.state;
    this.#screen.change((state) => (state.newKey = undefined));
    if (session !== undefined) this.#begin(session);
  }

  #begin({ key }: Session, id?: Preset['id']): void {
    const preset = PRESETS.find((each) => each.id === id) ?? PRESETS[0];
    this.#screen.change((state) => (state.newKey = draftOf(preset, key, state.newKey?.name)));
  }

  edit(fields: Partial<KeyDraft>): void {
    this.#screen.change((state) => {
      const { newKey } = state;
      if (newKey !== undefined && newKey.sent === undefined)
        state.newKey = { ...newKey, ...fields };
    });
  }

  /** Creates the key of the form. */
  async create(): Promise<void> {
    const screen = this.#screen;
    const { session, newKey: draft } = screen.state;
    if (session === undefined || draft === undefined || draft.isActing) return;
    const body = draft.sent ?? newKeyOf(draft, session.key);
    if ('problem' in body) {
      this.edit({ problem: body.problem });
      await screen.focus(`.create [name="${body.field}"]`);
      return;
    }
    screen.change((state) => {
      state.newKey = { ...draft, sent: body, isActing: true, problem: undefined };
    });
    const { idempotencyKey } = draft;
    try {
      const { signal } = session.ending;
      const made = await session.client.createKey(body, { idempotencyKey, signal });
      if (screen.state.session !== session) return;
      screen.change((state) => (state.newKey = undefined));
      this.#go({ ...screen.state.view, keys: 'valid' });
      this.#hand(made, true);
    } catch (error) {
      const problem = screen.problemOf(session, error);
      if (problem === undefined) return;
      const sent = isUnknown(error) ? body : undefined;
      const text =
        sent === undefined
          ? `Not created. ${problem}`
          : `${NOT_KNOWN} Creating it again is safe: this form creates one key.`;
      screen.change((state) => {
        if (state.newKey?.idempotencyKey !== idempotencyKey) return;
        state.newKey = { ...state.newKey, sent, isActing: false, problem: text };
      });
    }
  }

  ask(kind: 'rotate' | 'revoke', key: ManagedKey): void {
    const asked = { key, isActing: false, problem: undefined };
    const isInvited = key.invitedUntil !== undefined;
    const choice: Rotation = isInvited ? 'invitation' : '86400';
    this.#screen.change((state) => {
      state.dialog =
        kind === 'revoke'
          ? { kind, ...asked }
          : { kind, ...asked, choice, idempotencyKey: crypto.randomUUID(), isSent: false };
    });
  }

  chooseRotation(choice: Rotation): void {
    this.#screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind === 'rotate' && !dialog.isSent) state.dialog = { ...dialog, choice };
    });
  }

  /** Carries out what the dialog asks. */
  async confirm(): Promise<void> {
    const screen = this.#screen;
    const { session, dialog } = screen.state;
    const isQuestion = dialog?.kind === 'rotate' || dialog?.kind === 'revoke';
    if (session === undefined || !isQuestion || dialog.isActing) return;
    const asked = {
      ...{ ...dialog, isActing: true, problem: undefined },
      ...(dialog.kind === 'rotate' && { isSent: true }),
    } as typeof dialog;
    screen.change((state) => (state.dialog = asked));
    try {
      if (asked.kind === 'rotate') {
        const made = await rotate(session, asked);
        if (screen.state.session === session) this.#hand(made, false);
      } else {
        const { signal } = session.ending;
        const { name } = await session.client.revokeKey(asked.key.id, { signal });
        screen.change((state) => (state.dialog = undefined));
        screen.toast(`${name} was revoked`);
      }
    } catch (error) {
      const problem = screen.problemOf(session, error);
      if (problem === undefined) return;
      const isSent = isUnknown(error);
      const text = isSent ? `${NOT_KNOWN} Trying again is safe.` : `Not done. ${problem}`;
      screen.change((state) => {
        if (state.dialog !== asked) return;
        state.dialog = {
          ...asked,
          isActing: false,
          problem: text,
          ...('isSent' in asked && { isSent }),
        };
      });
    }
    await this.read();
  }

  /** Shows a secret, or an invitation, once. */
  #hand(made: KeySecret, isNew: boolean): void {
    const dialog: Dialog = { kind: 'made', made, isNew, isCodeHidden: false };
    this.#screen.change((state) => (state.dialog = dialog));
    void this.read();
  }
}

function rotate(
  { client, ending: { signal } }: Session,
  { key, choice, idempotencyKey }: Dialog & { readonly kind: 'rotate' },
): Promise<KeySecret> {
  const rotation: KeyRotation =
    choice === 'invitation' ? { invitation: true } : { overlapSeconds: BigInt(choice) };
  return client.rotateKey(key.id, rotation, { idempotencyKey, signal });
}

/** Whether the request can have been carried out all the same. */
function isUnknown(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true;
  return !(error instanceof ResponseError) || error.status >= 500 || error.isUnclear;
}
