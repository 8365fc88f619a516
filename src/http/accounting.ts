import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { logRequest } from './logging.ts';
import type { Metrics } from './metrics.ts';

/** Every request gets its id and is logged and counted once, however it ends. Comes first of all. */
export function accountForRequests(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onRequest', (request, reply, done) => {
    account(metrics, request, reply);
    done();
  });
}

/** What every answer carries. */
export function commonHeaders({ id }: FastifyRequest): Record<string, string> {
  return { 'x-request-id': id, 'x-content-type-options': 'nosniff' };
}

/** For one request, when its answer is out or its reader gone. */
export function account(metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(commonHeaders(request));
  reply.raw.once('close', () => {
    const operation = request.routeOptions.config?.operation ?? 'none';
    const status = reply.raw.headersSent ? String(reply.raw.statusCode) : 'aborted';
    const labels = { operation, status };
    metrics.requests.inc(labels);
    metrics.requestDuration.observe(labels, reply.elapsedTime / 1000);
    logRequest(request, reply);
  });
}
