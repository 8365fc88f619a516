// Plain JavaScript on purpose: it must run on any Node.js, to say which one the program needs.
const needed = [24, 15];

/** The oldest Node.js that runs the program. */
export const NEEDED = needed.join('.');

/** @param {string} version such as 24.15.0 */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}
