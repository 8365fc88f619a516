import type { Key, ManagedKey } from '@store-orders/client';

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

/** Whether a key has an invitation, and was never used: it has no secret yet. */
export const isOnlyInvited = ({ invitedUntil, lastUsedAt }: ManagedKey): boolean =>
  invitedUntil !== undefined && lastUsedAt === undefined;

export type QuestionKind = 'change' | 'rotate' | 'revoke';

/** How a secret is replaced: with an overlap in seconds, or by an invitation. */
export type Rotation = '86400' | '604800' | '0' | 'invitation';

/** What the page shows of an invitation. The ticket is not part of it. */
export interface InvitationState {
  /** What it is for; undefined until that is known. */
  readonly key: Key | undefined;
  /** Whether this browser is signed in with another key. */
  readonly isSignedIn: boolean;
  readonly isActing: boolean;
  readonly problem: string | undefined;
  /** Whether it is of no use: only another one helps. */
  readonly isOver: boolean;
  /** The secret that was made, until it is used to sign in. */
  readonly secret: string | undefined;
}
