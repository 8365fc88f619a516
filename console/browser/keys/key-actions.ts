import { type Actions, instead } from '../actions.ts';
import type { Screen } from '../screen.ts';
import type { Keys } from './keys.ts';
import type { Preset } from './new-key.ts';

/** What a user does with keys. */
export function keyActions(screen: Screen, keys: Keys): Actions['keys'] {
  return {
    read: () => void keys.read(),
    showMore: () => keys.showMore(),
    start: (preset) => () => keys.start(preset),
    edit: ({ target }) => {
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
    ask: (kind, key) => () => keys.ask(kind, key),
    answer: ({ target }) => {
      const { name, type, value, checked } = target as HTMLInputElement;
      keys.answer({ [name]: type === 'checkbox' ? checked : value });
    },
    confirm: instead(() => void keys.confirm()),
    toggleCode: () =>
      screen.change((state) => {
        const { dialog } = state;
        if (dialog?.kind === 'made') {
          state.dialog = { ...dialog, isCodeHidden: !dialog.isCodeHidden };
        }
      }),
  };
}
