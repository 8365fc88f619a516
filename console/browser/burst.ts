/** A person takes longer between two keys of a text, mostly; a scanner does not. */
const SCANNER_KEY_MS = 40;
/** Few people type a whole text with less than this between its keys; a slow scanner does. */
const SWIFT_KEY_MS = 100;
/** How late the rest of a code, or its Enter, can come if its keys came as those of a scanner. */
const LATE_END_MS = 1_000;
/** How long a person pauses in a text. */
const TYPED_MS = 5_000;
/** Within this, further Enters belong to the same code. */
const FURTHER_END_MS = 300;
/** Characters of the shortest text that is known as a scan by its speed alone. */
const LEAST_SCANNED = 3;

/** The end of a text, by Enter or Tab. */
export interface End {
  /** What was typed up to it, without a pause; empty if nothing was. */
  readonly text: string;
  /** What of it has not acted yet. */
  readonly rest: string;
  /** With what a person typed before it, in some seconds. */
  readonly typed: string;
  readonly isTaken: boolean;
  /** When it began, and the time since a text before it that had no end, in milliseconds. */
  readonly beganAt: number;
  readonly pauseMs: number;
  /** Whether the keys and the end came as only a scanner types. */
  readonly isScanned: boolean;
  /** Whether few people type the keys so, however late the end is. */
  readonly isSwift: boolean;
  /** Whether only a scanner types the keys so, however late the end is. */
  readonly isFast: boolean;
  /** Whether it is a further end of the same text. */
  readonly isFurther: boolean;
}

/** Characters in succession, whatever has the focus: those of a code that is scanned stay together, also if a dialog opens or closes between them. */
export class Burst {
  text = '';
  /** How many of its first characters have acted, each as a shortcut. */
  acted = 0;
  /** Whether it was taken as a code, or for the search. */
  isTaken = false;
  /** What had the focus when the latest text began. */
  from: EventTarget | null = null;
  #beganAt = 0;
  #before = '';
  /** The time since a text before it that had no end, in milliseconds. */
  pauseMs = 0;
  #at = Number.NEGATIVE_INFINITY;
  /** When the latest text ended. */
  #endedAt = Number.NEGATIVE_INFINITY;
  /** Times between the keys of the text, by the limits that they are within. */
  #scanner = 0;
  #swift = 0;

  /** Whether a character at a time, in milliseconds, begins another text. @param mostMs the longest pause in a text */
  isOver(at: number, mostMs: number): boolean {
    return at - this.#at > mostMs;
  }

  /** Takes a character. @returns whether it begins a text */
  add(key: string, at: number, from: EventTarget | null, mostMs: number): boolean {
    const pauseMs = at - this.#at;
    // Elsewhere, a person begins another text.
    const isHere = from === this.from;
    const goesOn = !this.isTaken && (this.#isFast || (this.isSwift && isHere));
    if (pauseMs > (goesOn ? LATE_END_MS : mostMs)) {
      const isOther = this.isTaken || pauseMs > TYPED_MS || !isHere;
      const before = isOther ? '' : this.#before + this.text;
      this.clear();
      this.#before = before;
    }
    const isFirst = this.text === '';
    if (isFirst) {
      this.from = from;
      this.#beganAt = at;
      this.pauseMs = pauseMs;
    } else {
      if (pauseMs <= SCANNER_KEY_MS) this.#scanner += 1;
      if (pauseMs <= SWIFT_KEY_MS) this.#swift += 1;
    }
    this.text += key;
    this.#at = at;
    return isFirst;
  }

  get #hasSwiftKeys(): boolean {
    return this.#swift * 4 >= (this.text.length - 1) * 3;
  }

  get #isFast(): boolean {
    return this.text.length >= LEAST_SCANNED && this.#scanner * 2 >= this.text.length;
  }

  /** Whether few people type the keys so, and never one who corrects them. */
  get isSwift(): boolean {
    return this.#isFast || (this.text.length >= LEAST_SCANNED && this.#hasSwiftKeys);
  }

  /** Takes Backspace. */
  erase(at: number): void {
    if (this.text === '') this.#before = this.#before.slice(0, -1);
    this.text = this.text.slice(0, -1);
    this.#at = at;
    this.#scanner = this.#swift = Number.NEGATIVE_INFINITY;
  }

  /** Takes Enter or Tab. */
  end(key: string, at: number, mostMs: number): End {
    const [isFast, isSwift] = [this.#isFast, this.isSwift];
    const isPrompt = this.#hasSwiftKeys && !this.isOver(at, SWIFT_KEY_MS);
    if (this.isOver(at, isSwift ? LATE_END_MS : mostMs)) this.clear();
    const { text, isTaken } = this;
    const isText = text !== '';
    const end = {
      ...{ text, isTaken, rest: text.slice(this.acted) },
      typed: isSwift || (isPrompt && text.length >= LEAST_SCANNED) ? text : this.#before + text,
      ...{ beganAt: this.#beganAt, pauseMs: this.pauseMs },
      ...{ isFast: isText && isFast, isSwift: isText && isSwift },
      isScanned: isText && (isFast || isPrompt),
      isFurther: key === 'Enter' && !isText && at - this.#endedAt <= FURTHER_END_MS,
    };
    // A person goes on with Enter after Tab, unless all keys are swift.
    const hasEnded = isText && (key === 'Enter' || isSwift || end.isScanned);
    if (!end.isFurther) this.#endedAt = hasEnded ? at : Number.NEGATIVE_INFINITY;
    this.clear();
    return end;
  }

  clear(): void {
    this.text = this.#before = '';
    this.#at = Number.NEGATIVE_INFINITY;
    this.acted = this.#scanner = this.#swift = 0;
    this.isTaken = false;
  }
}
