import type { HeaderList } from '../../http/errors.ts';

/**
 * Returns the headers of a deprecated operation: Deprecation (RFC 9745), Sunset (RFC 8594), and Links to its
 * documentation. Dates are in milliseconds since the epoch.
 */
export function deprecationHeaders(
  { deprecatedAt, sunsetAt }: { readonly deprecatedAt: number; readonly sunsetAt: number },
  documentation: string,
): HeaderList {
  return [
    ...['deprecation', `@${Math.floor(deprecatedAt / 1000)}`],
    ...['sunset', new Date(sunsetAt).toUTCString()],
    'link',
    `<${documentation}>; rel="deprecation"; type="application/yaml", ` +
      `<${documentation}>; rel="sunset"; type="application/yaml"`,
  ];
}
