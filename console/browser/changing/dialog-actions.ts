import type { Actions } from '../actions.ts';
import { isOverdue } from '../format.ts';
import { maySelect } from '../list/list-state.ts';
import { selectPasted } from '../list/pasted-list.ts';
import type { Placing } from '../placing/placing.ts';
import type { Screen } from '../screen.ts';
import type { Dialog } from '../state.ts';
import type { Changing } from './changing.ts';

type DialogActions = Pick<
  Actions,
  | ('act' | 'actOnSelected' | 'setGiven' | 'setTyped' | 'setAgain' | 'confirm')
  | ('openPasted' | 'paste' | 'editPasted' | 'setAreReferences' | 'selectPasted')
  | ('openForm' | 'editDraft' | 'placeOrder' | 'startAnother' | 'showDialog' | 'closeDialog')
>;

/** What a user does in dialogs. */
export function dialogActions(
  screen: Screen,
  { changing, placing }: { readonly changing: Changing; readonly placing: Placing },
): DialogActions {
  const open = (dialog: Dialog) => screen.change((state) => (state.dialog = dialog));
  const openPasted = (text: string) =>
    open({
      ...{ kind: 'pasted', text, areReferences: false },
      ...{ looking: undefined, problem: undefined, outcome: undefined },
    });
  /** Changes the fields of the open dialog, if it is of this kind. */
  const edit = <Kind extends Dialog['kind']>(
    kind: Kind,
    fields: Partial<Extract<Dialog, { readonly kind: Kind }>>,
  ) =>
    screen.change((state) => {
      if (state.dialog?.kind === kind) state.dialog = { ...state.dialog, ...fields } as Dialog;
    });
  return {
    act: (action) => () => changing.ask(action),
    actOnSelected: (action) => () => {
      const { selected } = screen.state;
      const ids = [...selected.keys()];
      const overdue = [...selected.values()].filter(isOverdue).length;
      open({ kind: 'several', action, ids, overdue, typed: '', given: '' });
    },
    setGiven: ({ target }) => {
      edit('one', { given: textIn(target) });
      edit('several', { given: textIn(target) });
    },
    setTyped: ({ target }) => edit('several', { typed: textIn(target) }),
    setAgain: ({ target }) => edit('one', { isAgain: isChecked(target) }),
    confirm: (event) => {
      event.preventDefault();
      void changing.confirm();
    },
    openPasted: () => openPasted(''),
    paste: (event) => {
      const text = (event as ClipboardEvent).clipboardData?.getData('text/plain').trim() ?? '';
      if (!text.includes('\n') || !maySelect(screen.state)) return;
      event.preventDefault();
      openPasted(text);
    },
    editPasted: ({ target }) => edit('pasted', { text: textIn(target) }),
    setAreReferences: ({ target }) => edit('pasted', { areReferences: isChecked(target) }),
    selectPasted: (event) => {
      event.preventDefault();
      void selectPasted(screen);
    },
    openForm: () => placing.open(),
    editDraft: ({ target }) =>
      placing.edit({ [(target as HTMLInputElement).name]: textIn(target) }),
    placeOrder: (event) => {
      event.preventDefault();
      void placing.submit();
    },
    startAnother: () => placing.startAnother(),
    showDialog: (dialog) => () => open(dialog),
    closeDialog: (event) => {
      event.preventDefault();
      const { dialog } = screen.state;
      if ((dialog?.kind === 'one' || dialog?.kind === 'place') && dialog.isActing) return;
      if (dialog?.kind === 'pasted') dialog.looking?.ending.abort();
      screen.change((state) => (state.dialog = undefined));
    },
  };
}

const textIn = (target: EventTarget | null): string =>
  (target as HTMLInputElement | HTMLTextAreaElement).value;

const isChecked = (target: EventTarget | null): boolean => (target as HTMLInputElement).checked;
