import type { OrderRecord } from '@store-orders/client';
import { readDetails } from '../order/details.ts';
import type { Screen } from '../screen.ts';
import type { Action } from '../state.ts';
import { changeSeveral, outcomeOf } from './change-in-bulk.ts';
import { changeOne } from './change-one.ts';

/** A change of more orders than this is confirmed by typing their number. */
export const MAX_UNASKED = 1_000;

/** Whether the number of orders was typed, with any separators, if it is asked for. */
export const isConfirmed = ({ length }: readonly bigint[], typed: string): boolean =>
  length <= MAX_UNASKED || typed.replaceAll(/\D/g, '') === String(length);

/** Asks for changes of orders, and makes them. */
export class Changing {
  readonly #screen: Screen;
  /** Reads counts and history again. */
  readonly #afterwards: () => Promise<unknown>;

  /** Called with an order that was cancelled to be placed again. */
  readonly #placeAgain: (order: OrderRecord) => void;

  constructor(
    screen: Screen,
    {
      readCounts,
      placeAgain,
    }: {
      readonly readCounts: () => Promise<void>;
      readonly placeAgain: (order: OrderRecord) => void;
    },
  ) {
    this.#screen = screen;
    this.#afterwards = () => Promise.all([readDetails(screen), readCounts()]);
    this.#placeAgain = placeAgain;
  }

  /** Asks before the open order is changed. */
  ask(action: Action): void {
    const { detail, session } = this.#screen.state;
    const order = detail?.order;
    if (order?.status !== 'pending' || session?.may[action] !== true) return;
    const placed = detail!.events.find(({ type }) => type === 'placed');
    const by = placed?.byName ?? placed?.by;
    this.#screen.change((state) => {
      state.dialog = {
        ...{ kind: 'one', action, order, by, given: '', isAgain: false },
        ...{ isActing: false, failure: undefined },
      };
    });
  }

  /** Carries out the action of the dialog. */
  async confirm(): Promise<void> {
    const { dialog, session } = this.#screen.state;
    if (dialog?.kind === 'several') {
      if (!isConfirmed(dialog.ids, dialog.typed)) return;
      this.#screen.change((state) => (state.dialog = undefined));
      await this.changeSeveral(dialog.action, dialog.ids, dialog.given);
    }
    if (dialog?.kind !== 'one' || session === undefined || dialog.isActing) return;
    const asked = { ...dialog, isActing: true, failure: undefined };
    this.#screen.change((state) => (state.dialog = asked));
    const failure = await changeOne(this.#screen, session, dialog);
    // Shown before history and counts are read, which can take a while.
    this.#screen.change((state) => {
      if (state.dialog !== asked) return;
      const order = state.detail?.order ?? dialog.order;
      state.dialog =
        failure === undefined ? undefined : { ...dialog, order, isActing: false, failure };
    });
    const isOpen = this.#screen.state.session === session;
    if (failure === undefined && dialog.isAgain && isOpen) this.#placeAgain(dialog.order);
    await this.#afterwards();
  }

  /** Changes several orders, with the progress in the bar, which has the focus. */
  async changeSeveral(action: Action, ids: readonly bigint[], given: string): Promise<void> {
    const { session } = this.#screen.state;
    if (session === undefined) return;
    const changing = changeSeveral(this.#screen, session, { action, ids, given });
    await this.#screen.focus('.bulk');
    await changing;
    await this.#afterwards();
  }

  async retryFailed(): Promise<void> {
    const { bulk } = this.#screen.state;
    if (bulk === undefined || bulk.isRunning) return;
    const { failed, untried } = outcomeOf(bulk);
    const ids = [...failed, ...untried].map(({ id }) => id);
    await this.changeSeveral(bulk.action, ids, bulk.given);
  }
}
