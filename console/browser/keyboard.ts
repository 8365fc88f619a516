import { Burst, type End } from './burst.ts';
import type { State } from './state.ts';

/** The actions of keys. Letters and digits have an action only outside of text fields and dialogs. */
export interface Shortcuts {
  readonly move: (by: 1 | -1) => void;
  readonly open: () => void;
  /** @returns what takes back the selection of one order */
  readonly select: (isRange: boolean) => (() => void) | undefined;
  /** Goes to the search box, with a text that was typed outside of it. */
  readonly search: (text: string) => void;
  /** A code was scanned. @param written all that is in the search box, if it was scanned there */
  readonly scan: (text: string, written?: string) => void;
  /** A code was scanned where it does nothing. */
  readonly refuse: () => void;
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
/** The longest time between two keys of one code: of slow scanners, and of those that pause. */
const CODE_KEY_MS = 200;
/** How long a key waits for the next one before it acts. A letter that opens or sends something waits CODE_KEY_MS: it could begin a slow code. */
const ALONE_AFTER_MS = 60;
/** No scan begins so soon after a letter that a person pressed: that was the beginning of the code. */
const AFTER_LETTER_MS = 300;
/** What follows a text so soon, another one or Enter, can be the end of the same code: always where keys have no other meaning. */
const SAME_CODE_MS = 1_000;
/** How long a person checks what was typed on the page for scanning, before Enter. */
const CHECKED_MS = 5_000;
/** How long a blank waits for a code that it begins, on the page for scanning. */
const BLANK_MS = 500;
/** The pages by the second keys after g. */
const PAGES = { o: 'orders', a: 'activity', s: 'scan', k: 'keys' } as const;
/** Letters that do no harm if they begin a slow code. */
const HARMLESS = 'jkx/';
/** Characters of the shortest code that is known as one without Enter. */
const LEAST_SCANNED = 3;
/** Characters of the shortest text that is no search of a person if its keys are swift, however late its Enter is. */
const LEAST_SWIFT = 6;

/**
 * Calls the actions of keys. A barcode scanner is a keyboard, too: keys in succession are one code, whatever has the focus outside of a text field,
 * and none of them has its own action; at most the first, if it is harmless and the scanner pauses. In a field, a code is known by its speed.
 */
export function listenForKeys(shortcuts: Shortcuts, state: State): void {
  const burst = new Burst();
  /** Of the key that is down. */
  let end: End | undefined;
  /** Whether that key is the next one of a search that has only now begun. */
  let goesOn = false;
  let goUntil = 0;
  /** When a letter has last had its action, and what takes back the selections of those of the burst. */
  let actedAt = Number.NEGATIVE_INFINITY;
  let undo: ReturnType<Shortcuts['select']>[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** What had the focus when the key that is down was pressed. */
  let pressedOn: EventTarget | null = null;

  /** Whether all keys outside of text fields are of codes. */
  const isForScans = () => state.view.page === 'scan';
  /** Whether single keys have actions now. */
  const mayAct = () => state.preferences.hasShortcuts && !isForScans() && !isAbove();

  /** The page that a key leads to after g. */
  const pageOf = (key: string) =>
    performance.now() < goUntil ? PAGES[key as keyof typeof PAGES] : undefined;
  const act = (key: string) => {
    actedAt = performance.now();
    const page = pageOf(key);
    goUntil = page === undefined && key === 'g' ? actedAt + SECOND_KEY_MS : 0;
    if (page !== undefined) {
      // What is typed on that page is another text.
      burst.clear();
      shortcuts.goTo(page);
    } else if (key === 'x') undo.push(shortcuts.select(false));
    else actionOf(shortcuts, key)?.();
  };
  const hasAction = (key: string) =>
    (pageOf(key) ?? actionOf(shortcuts, key)) !== undefined || /[gx]/.test(key);
  /** Its first letters may have selected orders. */
  const take = (to: (text: string) => void, text: string) => {
    for (const each of undo) each?.();
    undo = [];
    to(text);
  };
  /** Called when no key follows. */
  const onPause = () => {
    timer = undefined;
    const { text } = burst;
    const rest = text.slice(burst.acted);
    // Also a code of a scanner that does not end it.
    const isCode = rest.length > 1 || !hasAction(rest);
    if (isForScans()) {
      // What is typed waits for its Enter.
      burst.isTaken = burst.isSwift && !isAbove();
      if (burst.isTaken) shortcuts.scan(text);
    } else if (mayAct() && rest !== '') {
      // The g that no page follows was the beginning of the text.
      const first = performance.now() < goUntil && burst.acted === 0 ? 'g' : '';
      if (isCode) take(shortcuts.search, first + text);
      else act(rest);
      if (isCode) goUntil = 0;
      Object.assign(burst, { isTaken: isCode, acted: burst.text.length });
    }
  };
  /** How long the latest key waits for the next one. */
  const waitMsFor = (key: string) => {
    if (isForScans()) return SAME_CODE_MS;
    // It shows nothing, and its second key can come soon.
    if (burst.text === 'g') return 0;
    const isQuick = burst.text.length - burst.acted > 1 || HARMLESS.includes(key);
    return isQuick || /\d/.test(key) ? ALONE_AFTER_MS : CODE_KEY_MS;
  };
  /** The action of a key with Ctrl or ⌘. */
  const commandOf = (key: string, target: EventTarget | null) => {
    if (key === 'k' && !isAbove()) return shortcuts.commands;
    return key === 'z' && isForScans() && !isTyping(target) ? shortcuts.takeBack : undefined;
  };

  const onEndInSearch = (event: KeyboardEvent, box: HTMLInputElement, { text, ...of }: End) => {
    // What a person types among the commands runs the first of them.
    const isCommand = document.querySelector('.palette button.item') !== null;
    const written = box.value;
    const isAll = text === written || text === `/${written}`;
    const isText = isAll || text.length >= LEAST_SCANNED;
    const isLong = isForScans() || text.length >= LEAST_SWIFT;
    const isScanned = of.isScanned || (of.isSwift && isLong);
    const isCode = of.isFast || (isScanned && isText && !isCommand);
    if (isCode || of.isFurther) event.preventDefault();
    if (!isCode || written.trim() === '') return;
    shortcuts.scan(isAll || of.pauseMs < SAME_CODE_MS ? written : text, written);
  };
  /** A slip that is scanned on the way cancels, places and creates nothing; a tracking number is meant to be scanned. */
  const onEndInForm = (event: KeyboardEvent, field: HTMLInputElement, of: End) => {
    // A person goes on with Tab.
    const isTab = event.key === 'Tab';
    const isScanned = isTab ? of.isFast : of.isScanned || of.isSwift;
    const isOfShipment = field.name === 'trackingNumber';
    // It has opened the question.
    const isAfterLetter = (of.isScanned || isOfShipment) && of.beganAt - actedAt < AFTER_LETTER_MS;
    // Its beginning went elsewhere, or came while the field was fixed. A date is written in another way than it is typed.
    const isFull = field.value.length === field.maxLength && !of.isFast;
    const isCut = field.type === 'text' && !isFull && !field.value.includes(of.text);
    const isTail = (isScanned && (burst.from !== field || isAfterLetter)) || isCut;
    // A question that has only now opened takes no Enter.
    if (event.defaultPrevented && !isTail) return;
    const isMeant = isOfShipment && !field.readOnly && !isTail;
    const isWhole = isScanned && of.text === field.value;
    if (isTab && !isTail && !(isMeant && isWhole && !event.shiftKey)) return;
    if (isMeant && isWhole && !isTab) return;
    if (isScanned || isTail || of.isFurther) event.preventDefault();
    if (!field.readOnly && (isTail || (isMeant && of.isFast && !isWhole))) {
      field.value = '';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }
    if (isMeant && isTab) field.form!.requestSubmit();
    else if (isScanned || isTail) shortcuts.refuse();
  };
  const press = (target: EventTarget | null) => {
    burst.clear();
    if (isPressed(target)) (target as HTMLElement).click();
  };
  const onEnd = (event: KeyboardEvent, { text, typed, rest, isTaken, isFurther, pauseMs }: End) => {
    // A blank is to press a button or a box, or has scrolled. Enter presses a button itself.
    if (text !== '' && text.trim() === '') {
      const isBox = event.target instanceof HTMLInputElement;
      if ((event.key === 'Tab' || isBox) && pauseMs >= SAME_CODE_MS) press(event.target);
      return;
    }
    const isLetter = /^\D$/.test(rest) && mayAct();
    if (isFurther || isTaken || (rest !== '' && !isLetter)) {
      event.preventDefault();
      if (isFurther || isTaken) return;
      document.querySelector<HTMLElement>('[popover]:popover-open')?.hidePopover();
      if (isAbove()) shortcuts.refuse();
      else take(shortcuts.scan, isForScans() ? typed : text);
      return;
    }
    if (isLetter) act(rest);
    else if (event.key !== 'Enter' || isOnControl(event.target) || !mayAct()) return;
    event.preventDefault();
    if (!isLetter || HARMLESS.includes(rest)) shortcuts.open();
  };
  const onCharacter = (event: KeyboardEvent) => {
    const { key, target } = event;
    // It scrolls, or presses a button or a box, unless it begins a code.
    const isBlank = key === ' ' && burst.text.trim() === '';
    if (isBlank && !isPressed(target)) return;
    event.preventDefault();
    if (isBlank && burst.pauseMs < SAME_CODE_MS) return;
    timer = isBlank
      ? setTimeout(press, isForScans() ? BLANK_MS : CODE_KEY_MS, target)
      : setTimeout(onPause, waitMsFor(key));
  };
  /** A key that is held moves, selects and scrolls; it confirms nothing, opens nothing, and writes only where it was pressed. */
  const onRepeat = (event: KeyboardEvent) => {
    const { key, target } = event;
    const isConfirming = key === 'Enter' && !(target instanceof HTMLTextAreaElement);
    const isScrolling = key === ' ' && !isPressed(target);
    const isWriting = isTyping(target) && target === pressedOn && !isConfirming;
    if (key === 'Tab' || isScrolling || isWriting) return;
    event.preventDefault();
    if (mayAct() && HARMLESS.includes(key)) act(key);
  };

  // In this phase, no other listener has stopped a key.
  addEventListener(
    'keydown',
    ({ key, timeStamp, target, repeat, isComposing, ctrlKey, metaKey, altKey }) => {
      if (!repeat) pressedOn = target;
      // Where single keys do nothing, all of them can be of one code.
      const hasMeaning = isInForm(target) || (!isForScans() && (isTyping(target) || mayAct()));
      const mostMs = hasMeaning ? CODE_KEY_MS : SAME_CODE_MS;
      // Events can come before a timer that is due.
      const isDue = timer !== undefined && burst.isOver(timeStamp, mostMs);
      if (isDue) onPause();
      goesOn = isDue && burst.isTaken;
      const lateMs = isForScans() && !isTyping(burst.from) ? CHECKED_MS : SAME_CODE_MS;
      const endMs = key === 'Enter' && !isTyping(target) ? lateMs : mostMs;
      end = isEnd(key) && !repeat ? burst.end(key, timeStamp, endMs) : undefined;
      // Of a person.
      const isErased = key === 'Backspace' && isForScans() && !isTyping(target);
      if (isErased) burst.erase(timeStamp);
      else if (/^(Arrow|Escape|Backspace|Delete|Home|End$)/.test(key)) burst.clear();
      // Chromium sends an event without a key when a suggestion is taken. Characters with AltGr have both modifiers.
      // With Alt alone, a character is text in a field only.
      const isCommand = metaKey || (ctrlKey !== altKey && (ctrlKey || !isTyping(target)));
      if (key?.length !== 1 || isCommand || isComposing || repeat) return;
      if (burst.add(key, timeStamp, target, mostMs)) undo = [];
    },
    true,
  );
  addEventListener('keydown', (event) => {
    const { key, target, isComposing } = event;
    if (state.session === undefined) {
      clearTimeout(timer);
      if (isTyping(target)) return;
      // A code accepts no invitation.
      if (key === ' ') onCharacter(event);
      else if (end?.isFurther || (end?.text ?? '') !== '') event.preventDefault();
      return;
    }
    if (isComposing) return;
    // What is scanned or typed after this takes the place of what is there, if the form stays.
    if ((key === 'Enter' || end?.isScanned) && isInForm(target)) target.select();
    if (end !== undefined && isTyping(target) && isInForm(target)) onEndInForm(event, target, end);
    if (event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      const command = event.altKey ? undefined : commandOf(key, target);
      if (command !== undefined) event.preventDefault();
      command?.();
      return;
    }
    if (key === 'Escape' && !isAbove()) shortcuts.close();
    if (!isEnd(key) && key?.length !== 1) return;
    if (event.repeat) {
      onRepeat(event);
      return;
    }
    clearTimeout(timer);
    timer = undefined;
    if (isTyping(target)) {
      if (end !== undefined && isSearch(target)) onEndInSearch(event, target, end);
      if (target instanceof HTMLTextAreaElement && key === 'Tab' && end?.isFast) {
        // Each code is a line of the list.
        event.preventDefault();
        target.setRangeText('\n', target.selectionStart, target.selectionEnd, 'end');
      }
    } else if (end !== undefined) onEnd(event, end);
    else if (!goesOn) onCharacter(event);
  });
}

function actionOf(shortcuts: Shortcuts, key: string): (() => void) | undefined {
  const actions: Readonly<Record<string, () => void>> = {
    j: () => shortcuts.move(1),
    k: () => shortcuts.move(-1),
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

/** Whether a blank presses what has the focus. */
const isPressed = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('button, summary, input');

const isEnd = (key: string) => key === 'Enter' || key === 'Tab';

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
