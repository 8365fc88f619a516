import type { FastifyInstance } from 'fastify';

/**
 * Marks every answer of a deprecated operation: since when it is (RFC 9745), when it ends
 * (RFC 8594), and where to read about it. Comes before authentication, so that 401 is marked too.
 */
export function markDeprecated(
  server: FastifyInstance,
  { deprecatedAt, sunsetAt }: { readonly deprecatedAt: number; readonly sunsetAt: number },
  documentation: string,
): void {
  const headers = new Headers({
    deprecation: `@${Math.floor(deprecatedAt / 1000)}`,
    sunset: new Date(sunsetAt).toUTCString(),
    link:
      `<${documentation}>; rel="deprecation"; type="application/yaml", ` +
      `<${documentation}>; rel="sunset"; type="application/yaml"`,
  });
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.deprecated) reply.raw.setHeaders(headers);
    done();
  });
}
