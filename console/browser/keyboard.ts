/** The actions of keys. Letters and digits have an action only outside of text fields and dialogs. */
export interface Shortcuts {
  readonly move: (by: 1 | -1) => void;
  readonly open: () => void;
  readonly select: (isRange: boolean) => void;
  /** Goes to the search box, with a text that was typed outside of it. */
  readonly search: (text: string) => void;
  /** A code was scanned. */
  readonly scan: (text: string) => void;
  readonly filter: () => void;
  readonly act: (action: 'cancel' | 'ship') => void;
  readonly place: () => void;
  readonly copyId: () => void;
  readonly exportCsv: () => void;
  readonly goTo: (page: 'orders' | 'activity' | 'scan' | 'keys') => void;
  readonly close: () => void;
  readonly help: () => void;
  readonly commands: () => void;
  /** Takes back the last scan. */
  readonly takeBack: () => void;
}

/** Time limit for the second key of a sequence of two. */
const SECOND_KEY_MS = 1_500;
/** The longest time between two keys of a scanner, which types a code and ends it with Enter or Tab. People take longer. */
const SCANNED_KEY_MS = 35;
/** A person takes longer for Enter after the last key of a text, and few scanners do. */
const QUICK_ENTER_MS = 100;
/** The same on the page for scanning, where keys have no other meaning: wireless scanners are slower. */
const SLOW_SCANNED_KEY_MS = 250;
/** How long a key waits for the next one, to be known as typed by a person. Longer than above: timers can be early beside events that wait. */
const ALONE_AFTER_MS = 60;
/** Characters of a text that is taken for a scanned one although it was typed into the search box, where people type, too. */
const LEAST_SCANNED = 3;

/**
 * Calls the actions of keys. A barcode scanner is a keyboard, too: keys in quick succession are one code, whatever has the focus outside of a
 * text field, and none of them has its own action.
 * @param areOn whether letters are shortcuts now
 * @param isForScans whether all keys outside of text fields are codes
 */
export function listenForKeys(
  shortcuts: Shortcuts,
  {
    isSignedIn,
    areOn,
    isForScans,
  }: {
    readonly isSignedIn: () => boolean;
    readonly areOn: () => boolean;
    readonly isForScans: () => boolean;
  },
): void {
  let goUntil = 0;
  /** Keys in quick succession, and the time of the last one. */
  let keys = '';
  /** Whether they were typed into a text field. */
  let areInField = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const act = (key: string) => {
    const isSecond = performance.now() < goUntil;
    goUntil = 0;
    if (key === 'g' && !isSecond) goUntil = performance.now() + SECOND_KEY_MS;
    const second = {
      o: () => shortcuts.goTo('orders'),
      a: () => shortcuts.goTo('activity'),
      s: () => shortcuts.goTo('scan'),
      k: () => shortcuts.goTo('keys'),
    };
    const action = isSecond ? second[key as 'o'] : actionOf(shortcuts, key);
    action?.();
  };
  /** Takes the keys so far, of which there is one if a person types. */
  const take = () => {
    clearTimeout(timer);
    const text = keys;
    keys = '';
    return text;
  };
  const endAlone = () => {
    const text = take();
    if (text === '' || isAbove()) return;
    if (isForScans()) {
      if (text.length >= LEAST_SCANNED) shortcuts.scan(text);
      return;
    }
    if (!areOn()) return;
    // Also a code of a scanner that does not end it.
    if (text.length > 1 || /\d/.test(text)) shortcuts.search(text);
    else act(text);
  };

  /** Whether single keys have actions now. */
  const mayAct = () => areOn() && !isForScans() && !isAbove();
  /** The action of a key with Ctrl or ⌘. */
  const commandOf = (key: string, target: EventTarget | null) => {
    if (key === 'k' && !isAbove()) return shortcuts.commands;
    return key === 'z' && isForScans() && !isTyping(target) ? shortcuts.takeBack : undefined;
  };

  addEventListener('keydown', (event) => {
    const { key, target, timeStamp } = event;
    // What is scanned or typed after this takes the place of what is there, if the form stays.
    if (key === 'Enter' && isInForm(target)) target.select();
    if (!isSignedIn() || event.defaultPrevented || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      const command = event.altKey ? undefined : commandOf(key, target);
      if (command !== undefined) event.preventDefault();
      command?.();
      return;
    }
    if (key === 'Escape' && !isAbove()) {
      shortcuts.close();
      return;
    }
    const isEnd = key === 'Enter' || key === 'Tab';
    if (!isEnd && key.length !== 1) return;
    if (
      areInField !== isTyping(target) ||
      timeStamp - lastAt > (isForScans() ? SLOW_SCANNED_KEY_MS : SCANNED_KEY_MS)
    ) {
      if (areInField) take();
      else endAlone();
    }
    const isQuick = timeStamp - lastAt < QUICK_ENTER_MS;
    lastAt = timeStamp;
    areInField = isTyping(target);
    if (areInField) {
      const typed = isEnd ? take() : '';
      if (!isEnd) keys += key;
      else if (typed.length >= LEAST_SCANNED && isSearch(target) && target.value.endsWith(typed)) {
        event.preventDefault();
        shortcuts.scan(target.value);
      } else if (key === 'Enter' && isQuick && isInForm(target)) {
        // A slip that is scanned on the way cancels, places and creates nothing.
        if (target.name !== 'trackingNumber') event.preventDefault();
      }
      return;
    }
    if (isEnd) {
      const code = take();
      if (code !== '') {
        event.preventDefault();
        document.querySelector<HTMLElement>('[popover]:popover-open')?.hidePopover();
        if (!isAbove()) shortcuts.scan(code);
      } else if (key === 'Enter' && !isOnControl(target) && mayAct()) {
        event.preventDefault();
        shortcuts.open();
      }
      return;
    }
    // It presses a button, or scrolls.
    if (key === ' ' && keys === '') return;
    event.preventDefault();
    if (event.repeat) {
      if (mayAct()) act(key);
      return;
    }
    keys += key;
    clearTimeout(timer);
    timer = setTimeout(endAlone, isForScans() ? 2 * SLOW_SCANNED_KEY_MS : ALONE_AFTER_MS);
  });
}

function actionOf(shortcuts: Shortcuts, key: string): (() => void) | undefined {
  const actions: Readonly<Record<string, () => void>> = {
    j: () => shortcuts.move(1),
    k: () => shortcuts.move(-1),
    x: () => shortcuts.select(false),
    X: () => shortcuts.select(true),
    '/': () => shortcuts.search(''),
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

/** Whether a dialog or a menu is above the page. */
const isAbove = (): boolean =>
  document.querySelector('dialog[open]:not(.details), [popover]:popover-open') !== null;

/** Whether Enter activates what has the focus. */
const isOnControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a, button, summary') !== null;

const isSearch = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.id === 'jump';

/** Whether it is a field of a question, or of a form that makes something. */
const isInForm = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.matches(':is(.ask:not(.palette), .create) input');

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement)
    return target.type !== 'checkbox' && target.type !== 'radio';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
