/**
 * Returns a text without the case of its letters: composed (NFC), then by Unicode's default mappings to lower and to upper case, which know no
 * language. "ß", "ẞ" and "SS" are equal, and so are "σ" and "ς"; a letter with an accent is another one than without, however it is composed.
 * Both mappings are needed: only "ẞ" to lower case gives "ß", and only "ß" to upper case gives "SS".
 */
export function caseless(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
}

/** Whether a reference contains a text in any case; an order without a reference does not. @param part as `caseless` returns it */
export function containsPart(reference: string | null | undefined, part: string): boolean {
  return typeof reference === 'string' && caseless(reference).includes(part);
}
