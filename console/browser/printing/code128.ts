// Code 128 (ISO/IEC 15417): a symbol is three bars and three spaces, 11 modules wide together.

/** The widths of bars and spaces of each symbol, in modules, by its value; the last one ends a code. */
const SYMBOLS =
  `212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 123221
   223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 131123 131321
   112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 213113 213311 213131
   311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 141221 112214 112412 122114
   122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 124211 411212 421112 421211 212141
   214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 411131 211412 211214 211232 2331112`.split(
    /\s+/,
  );
/** Begins a code of printable ASCII, a character per symbol. */
const START_B = 104;
/** Begins a code of digits, two per symbol. */
const START_C = 105;
/** Goes on with digits, two per symbol. */
const CODE_C = 99;
const STOP = 106;
const MODULUS = 103;
/** Longer codes do not fit on a page. */
const MAX_CHARACTERS = 48;

/** Returns the widths of the bars and spaces of a text, in modules, beginning with a bar; undefined if it cannot be written. */
export function code128(text: string): number[] | undefined {
  if (!/^[ -~]+$/.test(text) || text.length > MAX_CHARACTERS) return undefined;
  const values = valuesOf(text);
  const sum = values.reduce((before, value, index) => before + value * Math.max(index, 1), 0);
  const symbols = [...values, sum % MODULUS, STOP];
  return symbols.flatMap((value) => Array.from(SYMBOLS[value]!, Number));
}

/** Digits take half the room: an odd number of them begins with a single one. */
function valuesOf(text: string): number[] {
  if (!/^\d{2,}$/.test(text)) return [START_B, ...Array.from(text, valueIn)];
  const pairs = Array.from(text.slice(text.length % 2).match(/../g)!, Number);
  return text.length % 2 === 0
    ? [START_C, ...pairs]
    : [START_B, valueIn(text[0]!), CODE_C, ...pairs];
}

const valueIn = (character: string): number => character.charCodeAt(0) - 32;
