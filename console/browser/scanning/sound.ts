/** Hertz: a high tone for an order that can ship, a low one for all else. */
const TONES = { good: 880, bad: 196 } as const;
const SECONDS = { good: 0.09, bad: 0.35 } as const;
/** Of a full-scale signal. */
const VOLUME = 0.15;

let context: AudioContext | undefined;

/** Makes the sound of a scan, so that a clerk need not look up. */
export function beep(isGood: boolean): void {
  context ??= new AudioContext();
  const name = isGood ? 'good' : 'bad';
  const [oscillator, gain] = [context.createOscillator(), context.createGain()];
  oscillator.type = isGood ? 'sine' : 'square';
  oscillator.frequency.value = TONES[name];
  gain.gain.value = VOLUME;
  oscillator.connect(gain).connect(context.destination);
  oscillator.start();
  oscillator.stop(context.currentTime + SECONDS[name]);
}
