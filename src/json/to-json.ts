/** Serializes to JSON, with bigints as integers and, if given, an indent of so many spaces. */
export function toJson(value: unknown, indent?: number): string {
  const replacer = (_key: string, item: unknown) =>
    typeof item === 'bigint' ? rawJson(String(item)) : item;
  return JSON.stringify(value, replacer, indent);
}

/** JSON.rawJSON (ES2026), which TypeScript does not declare yet. */
const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;

/** Returns the beginning of a text, of whole characters: half of a surrogate pair is no text, and parsers refuse it. */
export function cut(text: string, length: number): string {
  const short = text.slice(0, length);
  return short.isWellFormed() ? short : short.slice(0, -1);
}
