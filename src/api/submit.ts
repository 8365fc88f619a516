import type { BatchCommand } from '../orders/batch.ts';
import type { OutcomeOf } from '../store/commands.ts';

/** Carries out a command on an order in the next group commit; see Batcher.submit. */
export type Submit = <C extends BatchCommand>(command: C) => Promise<OutcomeOf<C>>;
