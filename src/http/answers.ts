import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorAnswer } from './errors.ts';

/**
 * Writes the head of an answer; the body is the caller's. All answers begin here, past Fastify's own
 * way of sending, which has more steps than ours need.
 */
export function answerHead(
  reply: FastifyReply,
  status: number,
  headers: OutgoingHttpHeaders,
): void {
  reply.hijack();
  reply.raw.writeHead(status, { ...commonHeaders(reply.request.id), ...headers });
}

/** What every answer carries. */
export function commonHeaders(requestId: string): Record<string, string> {
  return { 'x-request-id': requestId, 'x-content-type-options': 'nosniff' };
}

/** Answers. To HEAD, Node sends no body. */
export function answer(
  reply: FastifyReply,
  status: number,
  headers: OutgoingHttpHeaders,
  body: Buffer,
): void {
  answerHead(reply, status, { ...headers, 'content-length': body.length });
  reply.raw.end(body);
}

/** Answers what has no body. */
export function answerEmpty(
  reply: FastifyReply,
  status: 204 | 304,
  headers: OutgoingHttpHeaders = {},
): void {
  answerHead(reply, status, headers);
  reply.raw.end();
}

/** Answers with an Error record; `headers` go with it. */
export function refuse(
  reply: FastifyReply,
  code: ErrorCode,
  headers: OutgoingHttpHeaders = {},
): void {
  const error = errorAnswer(code);
  // The rest of a body that nobody wants any more is not waited for.
  const { raw } = reply.request;
  if (hasBody(raw) && !raw.complete) reply.raw.shouldKeepAlive = false;
  answerHead(reply, error.status, { ...error.headers, ...headers });
  // As text it goes out in one piece with the head.
  reply.raw.end(error.body, 'latin1');
}

/** Answers a request that could not be carried out, and says why in the log. */
export type FailedRequest = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/** RFC 9112, section 6: these two headers say that there is a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) !== 0 || headers['transfer-encoding'] !== undefined;
}
