// Plain JavaScript, so that it runs on any Node.js and can report which version the program needs.
const needed = [24, 15];

/** The oldest Node.js that runs the program. */
export const NEEDED = needed.join('.');

/** @param {string} version such as 24.15.0 */
export function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}
