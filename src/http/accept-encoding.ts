/** The content codings that a list can have beside none: RFC 1952 and RFC 8878. */
export const CODINGS = ['zstd', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** `x-gzip` is the same as gzip: RFC 9110, section 8.4.1.3. */
const ALIASES: Readonly<Record<string, string>> = { 'x-gzip': 'gzip' };
const ELEMENT = /^([!#$%&'*+.^_`|~\w-]+)(?:[\t ]*;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * The coding that the client likes best, undefined for none: RFC 9110, section 12.5.3. Of codings that it
 * likes equally the first of CODINGS; where it refuses all there are it gets none. A field that is not
 * well formed says nothing.
 */
export function bestCoding(acceptEncoding: string | undefined): Coding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const qualities = new Map<string, number>();
  for (const element of acceptEncoding.split(',')) {
    const text = element.trim();
    if (text === '') continue;
    const match = ELEMENT.exec(text);
    if (match === null) return undefined;
    const name = match[1]!.toLowerCase();
    qualities.set(ALIASES[name] ?? name, Number(match[2] ?? 1));
  }
  const quality = (name: string) => qualities.get(name) ?? qualities.get('*') ?? 0;
  let best: Coding | undefined;
  // No coding at all is as good as one that is not named, unless the client says otherwise.
  let most = qualities.get('identity') ?? 0;
  for (const coding of CODINGS) {
    const wanted = quality(coding);
    if (wanted > most || (wanted === most && wanted > 0 && best === undefined)) {
      best = coding;
      most = wanted;
    }
  }
  return best;
}
