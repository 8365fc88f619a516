import type { OrderRecord } from '@store-orders/client';
import { type Actions, instead } from '../actions.ts';
import { isOverdue } from '../format.ts';
import type { Placing } from '../placing/placing.ts';
import { type JudgedScan, readyIn } from '../scanning/scans.ts';
import type { Screen } from '../screen.ts';
import type { Action, Dialog } from '../state.ts';
import type { Changing } from './changing.ts';

/** What a user does in dialogs. */
export function dialogActions(
  screen: Screen,
  { changing, placing }: { readonly changing: Changing; readonly placing: Placing },
) {
  const open = (dialog: Dialog) => screen.change((state) => (state.dialog = dialog));
  const askSeveral = (
    action: Action,
    orders: readonly OrderRecord[],
    scans: readonly JudgedScan[] = [],
  ) => {
    const ids = orders.map(({ id }) => id);
    const overdue = orders.filter(isOverdue).length;
    const trackingNumbers = new Map(
      scans.flatMap(({ order, scan: { trackingNumber } }) =>
        order === undefined || trackingNumber === undefined ? [] : [[order.id, trackingNumber]],
      ),
    );
    open({ kind: 'several', action, ids, overdue, trackingNumbers, typed: '', given: '' });
  };
  /** Changes the fields of the open dialog, if it is of this kind, and nothing has been sent. */
  const edit = <Kind extends Dialog['kind']>(
    kind: Kind,
    fields: Partial<Extract<Dialog, { readonly kind: Kind }>>,
  ) =>
    screen.change((state) => {
      const { dialog } = state;
      if (dialog?.kind !== kind || ('isActing' in dialog && dialog.isActing)) return;
      state.dialog = { ...dialog, ...fields } as Dialog;
    });
  return {
    act: (action) => () => changing.ask(action),
    actOnSelected: (action) => () => askSeveral(action, [...screen.state.selected.values()]),
    actOnScanned: (action) => () => {
      const ready = readyIn(screen.state.scans);
      askSeveral(
        action,
        ready.map(({ order }) => order!),
        ready,
      );
    },
    setGiven: ({ target }) => {
      edit('one', { given: textIn(target) });
      edit('several', { given: textIn(target) });
    },
    setTyped: ({ target }) => edit('several', { typed: textIn(target) }),
    setAgain: ({ target }) => edit('one', { isAgain: (target as HTMLInputElement).checked }),
    confirm: instead(() => void changing.confirm()),
    openForm: () => placing.open(),
    placeAgain: (order) => () => placing.open(order),
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
      screen.change((state) => Object.assign(state, { dialog: undefined, search: '' }));
      next(event);
    },
  } satisfies Partial<Actions>;
}

const textIn = (target: EventTarget | null): string => (target as HTMLInputElement).value;
