import type { Registry } from '@prometheus-io/client';
import fastify, { type FastifyInstance } from 'fastify';
import { commonHeaders } from './accounting.ts';
import { HttpError, sendError } from './errors.ts';
import { REQUEST_TIMEOUT_MS } from './limits.ts';
import { requestId } from './request-id.ts';

export interface OperationsParts {
  readonly registry: Registry;
  /** Whether requests should be sent here now. */
  readonly isReady: () => Promise<boolean>;
}

/**
 * The listener for those who run the service, apart from the public one: is it alive, should it get
 * requests, what does it do. Without keys, so for the machine or its private network only.
 */
export function buildOperations({ registry, isReady }: OperationsParts): FastifyInstance {
  const server = fastify({
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestId,
    // Nothing here is worth waiting for at the end.
    forceCloseConnections: true,
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request));
    done();
  });
  server.get('/livez', (_request, reply) => reply.type('text/plain').send('ok\n'));
  server.get('/readyz', async (_request, reply) => {
    const ready = await isReady();
    reply.code(ready ? 200 : 503).type('text/plain');
    return ready ? 'ready\n' : 'not ready\n';
  });
  server.get('/metrics', async (_request, reply) => {
    reply.type(registry.contentType);
    return registry.metrics();
  });
  server.setNotFoundHandler((_request, reply) => sendError(reply, new HttpError('not_found')));
  server.setErrorHandler((_error, _request, reply) =>
    sendError(reply, new HttpError('internal_error')),
  );
  return server;
}
