/** The actions of keys. Letters have an action only outside of text fields and dialogs. */
export interface Shortcuts {
  readonly move: (by: 1 | -1) => void;
  readonly open: () => void;
  readonly select: (isRange: boolean) => void;
  readonly search: () => void;
  readonly filter: () => void;
  readonly act: (action: 'cancel' | 'ship') => void;
  readonly place: () => void;
  readonly copyId: () => void;
  readonly exportCsv: () => void;
  readonly goTo: (page: 'orders' | 'activity') => void;
  readonly close: () => void;
  readonly help: () => void;
}

/** Time limit for the second key of a sequence of two. */
const SECOND_KEY_MS = 1_500;

/** @param areOn whether letters are shortcuts now */
export function listenForKeys(shortcuts: Shortcuts, areOn: () => boolean): void {
  let goUntil = 0;
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (event.defaultPrevented || ctrlKey || metaKey || altKey) return;
    const isAbove = document.querySelector('dialog[open]:not(.details), [popover]:popover-open');
    if (key === 'Escape' && isAbove === null) {
      shortcuts.close();
      return;
    }
    if (isTyping(target) || isAbove !== null || !areOn()) return;
    const isSecond = performance.now() < goUntil;
    goUntil = 0;
    const second = { o: () => shortcuts.goTo('orders'), a: () => shortcuts.goTo('activity') };
    const action = isSecond ? second[key as 'o'] : first(shortcuts, event);
    if (key === 'g' && !isSecond) goUntil = performance.now() + SECOND_KEY_MS;
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function first(shortcuts: Shortcuts, { key, target }: KeyboardEvent): (() => void) | undefined {
  // The key activates links and buttons.
  const isOnControl = target instanceof Element && target.closest('a, button, summary') !== null;
  if (key === 'Enter') return isOnControl ? undefined : shortcuts.open;
  const actions: Readonly<Record<string, () => void>> = {
    j: () => shortcuts.move(1),
    k: () => shortcuts.move(-1),
    x: () => shortcuts.select(false),
    X: () => shortcuts.select(true),
    '/': shortcuts.search,
    f: shortcuts.filter,
    s: () => shortcuts.act('ship'),
    c: () => shortcuts.act('cancel'),
    n: shortcuts.place,
    y: shortcuts.copyId,
    e: shortcuts.exportCsv,
    '?': shortcuts.help,
  };
  return actions[key];
}

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement)
    return target.type !== 'checkbox' && target.type !== 'radio';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
