import type { ManagedKey } from '@store-orders/client';
import { instead } from '../handlers.ts';
import type { Screen } from '../screen.ts';
import type { QuestionKind } from '../state.ts';
import type { Keys } from './keys.ts';
import type { Preset } from './new-key.ts';

/** What a user does with keys. */
export function keyActions(screen: Screen, keys: Keys) {
  return {
    read: () => void keys.read(),
    showMore: () => keys.showMore(),
    start: (preset?: Preset['id']) => () => keys.start(preset),
    edit: ({ target }: Event) => {
      const { name, value, checked } = target as HTMLInputElement;
      const scopes = screen.state.newKey?.scopes ?? [];
      if (name === 'preset') keys.choose(value as Preset['id']);
      else if (name === 'scope') {
        const others = scopes.filter((each) => each !== value);
        keys.edit({ preset: undefined, scopes: checked ? [...others, value] : others });
      } else keys.edit({ [name]: value });
    },
    create: instead(() => void keys.create()),
    startAnother: () => keys.startAnother(),
    ask: (kind: QuestionKind, key: ManagedKey) => () => keys.ask(kind, key),
    answer: ({ target }: Event) => {
      const { name, type, value, checked } = target as HTMLInputElement;
      keys.answer({ [name]: type === 'checkbox' ? checked : value });
    },
    confirm: instead(() => void keys.confirm()),
    /** Shows or hides the code of an invitation. */
    toggleCode: () =>
      screen.change((state) => {
        const { dialog } = state;
        if (dialog?.kind === 'made') {
          state.dialog = { ...dialog, isCodeHidden: !dialog.isCodeHidden };
        }
      }),
  };
}
