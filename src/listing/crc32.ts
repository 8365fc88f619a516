/** The CRC-32 polynomial, bit-reversed: RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1: the highest bit is the coefficient of x^0. */
const ONE = 0x80000000;

/** Multiplies two polynomials modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}

/** x^(8 * 2^n), for n from 0: appending 2^n zero bytes multiplies a CRC by it. */
const POWERS: readonly number[] = (() => {
  const powers = [ONE >>> 8];
  while (powers.length < 53) powers.push(multiply(powers.at(-1)!, powers.at(-1)!));
  return powers;
})();

/**
 * Combines the CRC-32s of two byte sequences into that of their concatenation: `first` is advanced by as many zero
 * bytes as the second sequence has.
 * @param secondLength in bytes
 */
export function combinedCrc32(first: number, second: number, secondLength: number): number {
  let result = first;
  for (let n = 0, rest = secondLength; rest > 0; n += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(POWERS[n]!, result);
  }
  return (result ^ second) >>> 0;
}
