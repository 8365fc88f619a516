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
/** The longest time between two keys of one code outside of text fields: of slow scanners, and of those that pause. */
const CODE_KEY_MS = 200;
/** The same on the page for scanning, where keys have no other meaning. */
const SLOW_CODE_KEY_MS = 250;
/** People take longer between two keys of a text, mostly. */
const SCANNED_KEY_MS = 40;
/** A person takes longer for Enter after the last key of a text; few scanners do, and only after keys in quick succession. */
const QUICK_ENTER_MS = 100;
/** How long a key waits for the next one before it acts. A letter that opens or sends something waits CODE_KEY_MS: it could begin a slow code. */
const ALONE_AFTER_MS = 60;
/** Letters that do no harm if they begin a slow code. */
const HARMLESS = 'jkx/';
/** Characters of the shortest code that is known as one without Enter, or by its speed. */
const LEAST_SCANNED = 3;

/**
 * Calls the actions of keys. A barcode scanner is a keyboard, too: keys in succession are one code, whatever has the focus outside of a text field,
 * and none of them has its own action; at most the first, if it is harmless and the scanner pauses.
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
  /** Keys in succession, how many of the first have acted, and the time of the last one. */
  let keys = '';
  let acted = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Characters since the last pause, in a field or not, and how many of them came as only a scanner types. */
  let typed = 0;
  let quick = 0;
  /** Whether the last key was Enter. */
  let hasEnded = false;

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
  /** Takes the keys so far; returns none if all have acted. */
  const take = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = acted < keys.length ? keys : '';
    keys = '';
    acted = 0;
    return text;
  };
  /** Called when no key follows. @returns whether a search begins, which the next keys go on with */
  const onPause = () => {
    timer = undefined;
    if (isForScans()) {
      const code = take();
      if (code.length >= LEAST_SCANNED && !isAbove()) shortcuts.scan(code);
      return false;
    }
    if (!mayAct()) return false;
    const rest = keys.slice(acted);
    // Also a code of a scanner that does not end it.
    const isText = rest.length > 1 || /\d/.test(rest);
    acted = isText ? acted : keys.length;
    if (isText) shortcuts.search(take());
    else act(rest);
    return isText;
  };

  /** How long the latest key waits for the next one. */
  const waitMsFor = (key: string) => {
    // It shows nothing, and its second key can come soon.
    if (keys === 'g') return 0;
    const isQuick = keys.length - acted > 1 || HARMLESS.includes(key) || /\d/.test(key);
    return isQuick || performance.now() < goUntil ? ALONE_AFTER_MS : CODE_KEY_MS;
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
    const pause = timeStamp - lastAt;
    lastAt = timeStamp;
    if (pause > CODE_KEY_MS) typed = quick = 0;
    if (!isEnd) {
      typed += 1;
      quick += pause <= SCANNED_KEY_MS ? 1 : 0;
    }
    /** Characters that a scanner has typed. */
    const scanned = typed >= LEAST_SCANNED && quick * 2 >= typed ? typed : 0;
    const isScanned = isEnd && (pause <= QUICK_ENTER_MS || scanned > 0);
    // Some scanners end a code with two.
    const isSecondEnd = key === 'Enter' && hasEnded && pause <= CODE_KEY_MS;
    hasEnded = key === 'Enter';
    if (isEnd) typed = quick = 0;
    if (isTyping(target)) {
      take();
      if (!isScanned) return;
      const isLookedUp = isSearch(target) && (scanned > 0 || target.id === 'jump');
      if (isLookedUp && target.value.trim() !== '') {
        event.preventDefault();
        // Without what was in the box before.
        if (!isSecondEnd) shortcuts.scan(target.value.slice(-scanned));
        // A slip that is scanned on the way cancels, places and creates nothing.
      } else if (key === 'Enter' && isInForm(target) && target.name !== 'trackingNumber')
        event.preventDefault();
      return;
    }
    if (isSecondEnd) {
      event.preventDefault();
      return;
    }
    if (pause > (isForScans() ? SLOW_CODE_KEY_MS : CODE_KEY_MS)) {
      // Events can come before a timer that is due.
      const isSearching = timer !== undefined && onPause();
      take();
      if (isSearching) return;
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
      if (mayAct() && HARMLESS.includes(key)) act(key);
      return;
    }
    keys += key;
    clearTimeout(timer);
    timer = setTimeout(onPause, isForScans() ? 2 * SLOW_CODE_KEY_MS : waitMsFor(key));
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
  target instanceof HTMLInputElement && target.matches('#jump, .palette input');

/** Whether it is a field of a question, or of a form that makes something. */
const isInForm = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.matches(':is(.ask:not(.palette), .create) input');

function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLInputElement)
    return target.type !== 'checkbox' && target.type !== 'radio';
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
