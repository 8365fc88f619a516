import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { refuse } from './answers.ts';

/** RFC 9110, section 15.5.6: the path exists, so 404 would be wrong. */
export function refuseOtherMethods(
  server: FastifyInstance,
  url: string,
  allowed: readonly string[],
  config: FastifyContextConfig = {},
): void {
  const method = server.supportedMethods.filter((name) => !allowed.includes(name));
  server.route({
    method,
    url,
    config,
    handler: ({ params }, reply) => {
      // The router also matches an empty segment, which is no value of a path parameter.
      if (Object.values(params as object).includes('')) refuse(reply, 'not_found');
      else refuse(reply, 'method_not_allowed', { allow: allowed.join(', ') });
    },
  });
}
