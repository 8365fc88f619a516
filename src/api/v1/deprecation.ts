import type { Headers } from '../../http/errors.ts';

/** Marks a deprecated operation: since when it is (RFC 9745), when it ends (RFC 8594), where to read about it. */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: { readonly deprecatedAt: number; readonly sunsetAt: number },
  documentation: string,
): Headers {
  return [
    ...['deprecation', `@${Math.floor(deprecatedAt / 1000)}`],
    ...['sunset', new Date(sunsetAt).toUTCString()],
    'link',
    `<${documentation}>; rel="deprecation"; type="application/yaml", ` +
      `<${documentation}>; rel="sunset"; type="application/yaml"`,
  ];
}
