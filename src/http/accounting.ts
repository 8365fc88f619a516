import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { ANSWER_WITHIN_MS } from './limits.ts';
import { logRequest } from './logging.ts';
import type { Metrics } from './metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When its headers had come: milliseconds on the clock of performance.now(). */
    arrivedAt: number;
    /** Until when it is to be answered, on the same clock. */
    answerBy: number;
  }
}

/** Every request is timed, logged and counted once, however it ends. Comes first of all. */
export function accountForRequests(
  server: FastifyInstance,
  metrics: Metrics,
  logger: Logger,
): void {
  server.decorateRequest('arrivedAt', 0);
  server.decorateRequest('answerBy', 0);
  server.addHook('onRequest', (request, reply, done) => {
    account(metrics, logger, request, reply);
    done();
  });
}

/** For one request, when its answer is out or its reader gone. */
export function account(
  metrics: Metrics,
  logger: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  request.arrivedAt = performance.now();
  request.answerBy = request.arrivedAt + ANSWER_WITHIN_MS;
  reply.raw.on('close', () => {
    const operation = request.routeOptions.config?.operation ?? 'none';
    const status = reply.raw.headersSent ? String(reply.raw.statusCode) : 'aborted';
    const labels = { operation, status };
    const ms = performance.now() - request.arrivedAt;
    metrics.requests.inc(labels);
    metrics.requestDuration.observe(labels, ms / 1000);
    logRequest(logger, request, reply, ms);
  });
}
