import type { OrderRecord } from '@store-orders/client';
import type { Actions } from '../actions.ts';
import { isOverdue } from '../format.ts';
import { instead } from '../handlers.ts';
import type { Placing } from '../placing/placing.ts';
import { readyIn } from '../scanning/scans.ts';
import type { Screen } from '../screen.ts';
import type { Action, Dialog } from '../state.ts';
import type { Changing } from './changing.ts';

/** What a user does in dialogs. */
export function dialogActions(screen: Screen, changing: Changing, placing: Placing) {
  const open = (dialog: Dialog) => screen.set({ dialog });
  const askSeveral = (
    action: Action,
    orders: readonly OrderRecord[],
    trackingNumbers: ReadonlyMap<bigint, string> = new Map(),
  ) => {
    const ids = orders.map(({ id }) => id);
    const overdue = new Set(orders.filter(isOverdue).map(({ id }) => id));
    const asked = { action, ids, ended: [], overdue, trackingNumbers } as const;
    open({ kind: 'several', ...asked, typed: '', given: '' });
  };
  /** Sets fields of the question about orders, if nothing has been sent. */
  const edit = (fields: object) =>
    screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind === 'several' || (dialog?.kind === 'one' && !dialog.isActing))
        state.dialog = { ...dialog, ...fields };
    });
  return {
    act: (action) => () => changing.ask(action),
    actOnSelected: (action) => () => askSeveral(action, [...screen.state.selected.values()]),
    actOnScanned: (action) => () => {
      const ready = readyIn(screen.state.scans);
      const orders = ready.map(({ order }) => order!);
      const numbers = ready.flatMap(({ order, scan: { trackingNumber } }) =>
        trackingNumber === undefined ? [] : [[order!.id, trackingNumber] as const],
      );
      askSeveral(action, orders, new Map(numbers));
    },
    setGiven: ({ target }) => edit({ given: textIn(target) }),
    setTyped: ({ target }) => edit({ typed: textIn(target) }),
    setAgain: ({ target }) => edit({ isAgain: (target as HTMLInputElement).checked }),
    confirm: instead(() => void changing.confirm()),
    openForm: (order) => () => placing.open(order),
    editDraft: ({ target }) =>
      placing.edit({ [(target as HTMLInputElement).name]: textIn(target) }),
    placeOrder: instead(() => void placing.submit()),
    startAnother: () => placing.startAnother(),
    showDialog: (dialog) => () => open(dialog),
    closeDialog: instead(() => {
      const { dialog } = screen.state;
      // The answer about an order can come later; a secret, or the outcome of a form, is awaited.
      const isAwaited = dialog !== undefined && 'isActing' in dialog && dialog.kind !== 'one';
      if (isAwaited && dialog.isActing) return;
      screen.change((state) => {
        if (dialog?.kind === 'palette') state.search = '';
        state.dialog = undefined;
      });
    }),
    runFirst: (otherwise) =>
      instead((event) => {
        const first = (event.currentTarget as Element).querySelector<HTMLElement>('button.item');
        if (first === null) otherwise(event);
        else first.click();
      }),
    close: (next) => (event) => {
      screen.set({ dialog: undefined, search: '' });
      next(event);
    },
  } satisfies Partial<Actions>;
}

const textIn = (target: EventTarget | null): string => (target as HTMLInputElement).value;
