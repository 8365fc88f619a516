import type { Action } from '../state.ts';

/** The words for an action, in buttons and in reports. */
export const WORDS: Readonly<
  Record<
    Action,
    { readonly verb: string; readonly doing: string; readonly done: string; readonly keep: string }
  >
> = {
  cancel: { verb: 'Cancel', doing: 'Cancelling', done: 'cancelled', keep: 'Keep' },
  ship: { verb: 'Ship', doing: 'Shipping', done: 'shipped', keep: 'Do not ship' },
};
