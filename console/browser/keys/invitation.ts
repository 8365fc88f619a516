import {
  AuthenticationError,
  ConflictError,
  StoreOrders,
  UnknownOutcomeError,
} from '@store-orders/client';
import { inWords } from '../format.ts';
import type { Screen } from '../screen.ts';
import type { InvitationState } from '../state.ts';

/** The ticket is in the fragment, which is in no request, referrer or log. */
const IN_FRAGMENT = /^#invitation=([\w-]{1,200})$/;

/** The link with which an invitation is accepted. */
export const invitationLink = (ticket: string): string =>
  `${location.origin}${location.pathname}#invitation=${ticket}`;

/** Takes the ticket out of the address, so that neither it nor the history of the tab keeps it; undefined if there is none. */
export function takeTicket(): string | undefined {
  const [, ticket] = IN_FRAGMENT.exec(location.hash) ?? [];
  if (location.hash.startsWith('#invitation=')) {
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return ticket;
}

const USED = 'This invitation was used, or its key was revoked. Ask for another one.';
const ENDED = 'This invitation has ended: it was good for an hour. Ask for another one.';

/** Accepts an invitation in this browser. */
export class Invitation {
  readonly #screen: Screen;
  readonly #root: string;
  #client: StoreOrders | undefined;

  /** @param root the part of the service's URLs before /v2 */
  constructor(screen: Screen, root: string) {
    this.#screen = screen;
    this.#root = root;
  }

  /** Shows what an invitation is for; it is not used by that. */
  async open(ticket: string, isSignedIn: Promise<boolean>): Promise<void> {
    this.#client = new StoreOrders({ baseUrl: this.#root, apiKey: ticket });
    const begun: InvitationState = {
      ...{ key: undefined, isSignedIn: false, isActing: false, problem: undefined },
      ...{ isOver: false, secret: undefined },
    };
    this.#screen.set({ invitation: begun });
    await Promise.all([this.read(), isSignedIn.then((value) => this.#show({ isSignedIn: value }))]);
  }

  /** Reads what it is for. */
  async read(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    this.#show({ isActing: true, problem: undefined });
    try {
      const key = await client.getKey();
      if (client === this.#client) this.#show({ key, isActing: false });
    } catch (error) {
      if (client === this.#client) this.#fail(error);
    }
    await this.#screen.focus('h1');
  }

  /** Makes the secret, once. */
  async accept(): Promise<void> {
    const client = this.#client;
    if (client === undefined || this.#screen.state.invitation?.isActing !== false) return;
    this.#show({ isActing: true, problem: undefined });
    try {
      const { secret, key } = await client.redeemInvitation();
      this.#client = undefined;
      this.#show({ key, secret, isActing: false });
      await this.#screen.focus('h1');
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Leaves the page of the invitation, which can be opened again while it is good. */
  close(): void {
    this.#client = undefined;
    this.#screen.set({ invitation: undefined });
  }

  #fail(error: unknown): void {
    const isUnknown = error instanceof UnknownOutcomeError;
    const isRefused = error instanceof AuthenticationError || error instanceof ConflictError;
    const isOver = isUnknown || isRefused;
    const refusal = isRefused && error.code === 'api_key_expired' ? ENDED : USED;
    const text = isRefused ? refusal : inWords(error);
    const problem = isUnknown
      ? 'The store has not answered, and the secret may be lost. Open the link again: if it was used, ask for another one.'
      : text;
    if (isOver) this.#client = undefined;
    this.#show({ problem, isOver, isActing: false });
  }

  #show(fields: Partial<InvitationState>): void {
    this.#screen.change((state) => {
      if (state.invitation !== undefined) state.invitation = { ...state.invitation, ...fields };
    });
  }
}
