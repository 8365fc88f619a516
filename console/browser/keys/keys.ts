import {
  type Key,
  type KeyChanges,
  type KeyRotation,
  type KeySecret,
  type ManagedKey,
  ResponseError,
} from '@store-orders/client';
import type { View } from '../list/address.ts';
import { newIdempotencyKey } from '../placing/draft.ts';
import type { Screen } from '../screen.ts';
import type { Session } from '../sign-in.ts';
import type { Dialog, QuestionKind, State } from '../state.ts';
import {
  draftOf,
  endOf,
  isDayMissing,
  type KeyDraft,
  NO_DAY,
  newKeyOf,
  PRESETS,
  type Preset,
} from './new-key.ts';

/** Rows that are added by "Show more". */
const STEP = 200;

const NOT_KNOWN = 'The store has not answered, so it may be done.';

/** Whether a key has an invitation, and was never used: it has no secret yet. */
export const isOnlyInvited = ({ invitedUntil, lastUsedAt }: ManagedKey): boolean =>
  invitedUntil !== undefined && lastUsedAt === undefined;

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

  #show(fields: Partial<State['keys']>): void {
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
    this.#screen.set({ newKey: undefined });
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
    screen.set({ newKey: { ...draft, sent: body, isActing: true, problem: undefined } });
    const { idempotencyKey } = draft;
    try {
      const { signal } = session.ending;
      const made = await session.client.createKey(body, { idempotencyKey, signal });
      if (screen.state.session !== session) return;
      screen.set({ newKey: undefined });
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

  ask(kind: QuestionKind, key: ManagedKey): void {
    const asked = { key, isActing: false, problem: undefined };
    const choice = isOnlyInvited(key) ? 'invitation' : '86400';
    const idempotencyKey = newIdempotencyKey();
    const questions: Readonly<Record<QuestionKind, Dialog>> = {
      revoke: { kind: 'revoke', ...asked },
      rotate: { kind: 'rotate', ...asked, choice, idempotencyKey, isSent: false },
      change: {
        ...{ kind: 'change', ...asked, name: key.name },
        ...{ ends: 'as-is', day: '', endsFormer: false },
      },
    };
    this.#screen.set({ dialog: questions[kind] });
  }

  /** Sets fields of the question, unless it was sent and its outcome is not known. */
  answer(fields: object): void {
    this.#screen.change((state) => {
      const { dialog } = state;
      const isOpen = dialog?.kind === 'change' || (dialog?.kind === 'rotate' && !dialog.isSent);
      if (isOpen && !dialog.isActing) state.dialog = { ...dialog, ...fields };
    });
  }

  /** Carries out what the dialog asks. */
  async confirm(): Promise<void> {
    const screen = this.#screen;
    const { session, dialog } = screen.state;
    const isQuestion = dialog !== undefined && 'key' in dialog;
    if (session === undefined || !isQuestion || dialog.isActing) return;
    if (dialog.kind === 'change' && isDayMissing(dialog)) {
      this.answer({ problem: NO_DAY });
      return;
    }
    const asked = {
      ...{ ...dialog, isActing: true, problem: undefined },
      ...(dialog.kind === 'rotate' && { isSent: true }),
    } as typeof dialog;
    screen.set({ dialog: asked });
    try {
      const { id } = asked.key;
      const { client, ending } = session;
      const options = { signal: ending.signal };
      if (asked.kind === 'rotate') {
        const { idempotencyKey } = asked;
        const made = await client.rotateKey(id, rotationIn(asked), { ...options, idempotencyKey });
        if (screen.state.session === session) this.#hand(made, false);
      } else {
        const isRevoked = asked.kind === 'revoke';
        const { name } = await (isRevoked
          ? client.revokeKey(id, options)
          : client.updateKey(id, changesIn(asked, session.key), options));
        screen.set({ dialog: undefined });
        screen.toast(`${name} was ${isRevoked ? 'revoked' : 'changed'}`);
      }
    } catch (error) {
      const problem = screen.problemOf(session, error);
      if (problem === undefined) return;
      const isSent = isUnknown(error);
      const text = isSent ? `${NOT_KNOWN} Trying again is safe.` : `Not done. ${problem}`;
      const ended = { isActing: false, problem: text, ...('isSent' in asked && { isSent }) };
      screen.change((state) => {
        if (state.dialog === asked) state.dialog = { ...asked, ...ended };
      });
    }
    await this.read();
  }

  /** Shows a secret, or an invitation, once. */
  #hand(made: KeySecret, isNew: boolean): void {
    const dialog: Dialog = { kind: 'made', made, isNew, isCodeHidden: false };
    this.#screen.set({ dialog });
    // Without it, there is the link.
    if (made.invitation !== undefined)
      import(new URL('qr-code.js', import.meta.url).href).catch(() => {});
    void this.read();
  }
}

/** What a question changes; never is null. */
function changesIn(
  { name, ends, day, endsFormer }: Dialog & { readonly kind: 'change' },
  own: Key,
): KeyChanges {
  return {
    name,
    ...(ends !== 'as-is' && { expiresAt: endOf({ ends, day }, own)?.toISOString() ?? null }),
    ...(endsFormer && { formerSecretUntil: null }),
  };
}

const rotationIn = ({ choice }: Dialog & { readonly kind: 'rotate' }): KeyRotation =>
  choice === 'invitation' ? { invitation: true } : { overlapSeconds: BigInt(choice) };

/** Whether the request can have been carried out all the same. */
const isUnknown = (error: unknown): boolean =>
  !(error instanceof ResponseError) || error.status >= 500 || error.isUnclear;
