import type { IncomingMessage } from 'node:http';
import type { Json, Sent } from '../../protocol/exact-json.ts';
import type { Operations } from '../../protocol/generated/operations.ts';
import type { ApiKey } from '../domain/api-key.ts';
import type { Webhook } from '../domain/webhook.ts';
import type { AllowedTargets } from '../feed/deliveries/addresses.ts';
import type { WebhookKey } from '../feed/deliveries/webhook-key.ts';
import type { ChangeStreams } from '../feed/streams/change-streams.ts';
import type { Contract } from '../http/contract/contract.ts';
import type { OperationInput } from '../http/contract/handlers.ts';
import { inTime, type RouteHandler } from '../http/request/exchange.ts';
import { type ErrorReply, type Reply, sendReply } from '../http/request/reply.ts';
import type { Store } from '../store/store.ts';
import type { ReadKind, Reads } from './reads.ts';
import type { Submit } from './submit.ts';

/** The parts of the service that operations use. */
export interface Services {
  readonly store: Store;
  readonly submit: Submit;
  readonly submitOneByOne: Submit;
  readonly reads: Reads;
  readonly streams: ChangeStreams;
  /** The path of the version: /v2 */
  readonly basePath: string;
  /** What the operators have configured about the store. */
  readonly facts: {
    readonly name: string | undefined;
    /** Whether a failover can lose acknowledged changes. */
    readonly canLoseChanges: boolean;
  };
  readonly webhooks: {
    readonly allowed: AllowedTargets;
    /** How many webhooks an API key may have. */
    readonly maxOfKey: number;
    /** See `keyOf`; undefined also if the file cannot be read. */
    readonly keyOf: (webhook: Webhook) => WebhookKey | undefined;
    /** See `keyForNew`. */
    readonly keyForNew: (others: readonly Webhook[]) => WebhookKey | undefined;
  };
}

/** A request of an operation; its input is valid by the contract. */
export interface Call<Id extends keyof Operations = keyof Operations>
  extends OperationInput<Operations[Id]['parameters'], Operations[Id]['body']> {
  /** Its headers are read where they are used. */
  readonly request: IncomingMessage;
  readonly key: ApiKey;
  /** Deadline of the response, by performance.now(). */
  readonly answerBy: number;
}

/** The reply of an operation: its record, checked by the compiler, or an Error record. */
type Answer<Id extends keyof Operations> = Reply<Sent<Operations[Id]['answer']>> | ErrorReply;

type Handle<Id extends keyof Operations> = (
  call: Call<Id>,
  services: Services,
) => Answer<Id> | Promise<Answer<Id>>;

export interface Operation {
  readonly id: keyof Operations;
  /** @throws Error if the contract has no such operation */
  readonly route: (contract: Contract, services: Services) => RouteHandler;
}

/**
 * Defines an operation: validates its input against the contract, limits its time, and sends its reply.
 * @param extraMs time beyond that of other operations
 * @param reads that the operation waits for the turn of its key, for such a read
 */
export function operation<Id extends keyof Operations>(
  id: Id,
  handle: Handle<Id>,
  { extraMs = 0, reads }: { readonly extraMs?: number; readonly reads?: ReadKind } = {},
): Operation {
  return {
    id,
    route: (contract, services) =>
      contract.validated<Operations[Id]['parameters'], Operations[Id]['body']>(
        id,
        async (exchange, input) => {
          exchange.answerBy += extraMs;
          const { request, apiKey, answerBy } = exchange;
          const call = { ...input, request, key: apiKey!, answerBy };
          const work = () => handle(call, services);
          const answer = async () =>
            reads === undefined ? work() : services.reads.run(reads, call, work);
          sendReply(exchange, await inTime(exchange, answer));
        },
      ),
  };
}

export const JSON_TYPE = ['content-type', 'application/json'] as const;

export function jsonReply<T>(
  status: 200 | 201,
  headers: readonly string[],
  body: Json<T>,
): Reply<T> {
  return { status, headers: [...headers, ...JSON_TYPE], body };
}
