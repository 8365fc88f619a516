/** Serializes to JSON, with bigints as integers and, if given, an indent of so many spaces. */
export function toJson(value: unknown, indent?: number): string {
  const replacer = (_key: string, item: unknown) =>
    typeof item === 'bigint' ? rawJson(String(item)) : item;
  return JSON.stringify(value, replacer, indent);
}

/** JSON.rawJSON (ES2026), which TypeScript does not declare yet. */
const rawJson = (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON;
