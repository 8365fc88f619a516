/** The polynomial of CRC-32 with its bits reversed: RFC 1952, section 8. */
const POLYNOMIAL = 0xedb88320;
/** The polynomial 1, in which the highest bit stands for x to the power of 0. */
const ONE = 0x80000000;

/** The product of two polynomials modulo POLYNOMIAL. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}

/** x to the power of 8 * 2^n, for n from 0: what 2^n bytes of zeros multiply a checksum by. */
const POWERS: readonly number[] = (() => {
  const powers = [ONE >>> 8];
  while (powers.length < 53) powers.push(multiply(powers.at(-1)!, powers.at(-1)!));
  return powers;
})();

/**
 * The CRC-32 of two pieces of data one after another, from that of each and the length of the second in
 * bytes: what stands before counts as if it were followed by that many zeros.
 */
export function combinedCrc32(first: number, second: number, secondLength: number): number {
  let result = first;
  for (let n = 0, rest = secondLength; rest > 0; n += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(POWERS[n]!, result);
  }
  return (result ^ second) >>> 0;
}
