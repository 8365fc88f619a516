import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { StoreUnavailable } from '../store/store.ts';
import { answer, refuse } from './answers.ts';
import { REQUEST_TIMEOUT_MS } from './limits.ts';
import { requestId } from './request-id.ts';

export interface OperationsParts {
  /** In Prometheus' text format. */
  readonly metrics: () => Promise<string>;
  /** Whether requests should be sent here now. */
  readonly isReady: () => Promise<boolean>;
}

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The listener for those who run the service, apart from the public one: is it alive, should it get
 * requests, what does it do. Without keys, so for the machine or its private network only.
 */
export function buildOperations({ metrics, isReady }: OperationsParts): FastifyInstance {
  const server = fastify({
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: requestId,
    // Nothing here is worth waiting for at the end.
    forceCloseConnections: true,
  });
  server.get('/livez', (_request, reply) => answerText(reply, 200, 'ok\n'));
  server.get('/readyz', async (_request, reply) => {
    if (await isReady()) answerText(reply, 200, 'ready\n');
    else answerText(reply, 503, 'not ready\n');
  });
  server.get('/metrics', async (_request, reply) => {
    answerText(reply, 200, await metrics(), METRICS_TYPE);
  });
  server.setNotFoundHandler((_request, reply) => refuse(reply, 'not_found'));
  server.setErrorHandler((error, _request, reply) =>
    refuse(reply, error instanceof StoreUnavailable ? 'store_unavailable' : 'internal_error'),
  );
  return server;
}

function answerText(
  reply: FastifyReply,
  status: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  answer(reply, status, { 'content-type': type }, Buffer.from(text));
}
