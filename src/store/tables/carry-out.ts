import { type BatchCommand, type BatchOutcome, isBatchCommand } from '../../domain/batch.ts';
import type { Action } from '../audit.ts';
import type { CommandOf, OutcomeOf, StoreCommand } from '../commands.ts';
import { recordAction, recordOperator } from './audit.ts';
import { digestOfKeys } from './audit-chain.ts';
import { beginImport, endImport, forgetImport } from './imports.ts';
import {
  createFirstKey,
  createKey,
  endOverlap,
  recordKeyUse,
  revokeKey,
  rotateKey,
} from './keys.ts';
import { putPets } from './pets.ts';
import type { Session } from './session.ts';
import {
  limitIds,
  moveAway,
  reactivate,
  readRevision,
  recordEnvironment,
  recordListUse,
  skipIds,
} from './store-row.ts';
import {
  insertWebhook,
  leaseWebhooks,
  recordDeliveries,
  releaseWebhooks,
  removeWebhook,
  replaceWebhook,
  rotateWebhook,
} from './webhooks.ts';

/** The commands that each engine carries out with statements of its own. */
export interface OrderWrites {
  readonly changeOrders: (commands: readonly BatchCommand[]) => Promise<BatchOutcome[]>;
  /** @param from the first revision whose head is computed again */
  readonly rechain: (from: bigint) => Promise<void>;
  readonly importOrders: (
    command: CommandOf<'importOrders'>,
  ) => Promise<OutcomeOf<CommandOf<'importOrders'>>>;
}

/** Returns whether commands may be applied to a store that was moved to another database. */
export function areForMovedStore(commands: readonly StoreCommand[]): boolean {
  return commands.every(({ type }) => type === 'reactivate' || type === 'audit');
}

/** Carries out commands in order, in a transaction that excludes all other writers. */
export function carryOut(
  session: Session,
  commands: readonly StoreCommand[],
  orders: OrderWrites,
): Promise<OutcomeOf<StoreCommand>[]> {
  if (commands.every(isBatchCommand)) return orders.changeOrders(commands);
  const [first] = commands;
  return first?.type === 'audit' && commands.length > 1
    ? carryOutRecorded(session, { action: first.action, commands: commands.slice(1) }, orders)
    : carryOutAll(session, commands, orders);
}

/** Carries out commands as one action of an operator, which is recorded unless it was refused. */
async function carryOutRecorded(
  session: Session,
  { action, commands }: { readonly action: Action; readonly commands: readonly StoreCommand[] },
  orders: OrderWrites,
): Promise<OutcomeOf<StoreCommand>[]> {
  const before = await readRevision(session);
  const keysBefore = commands.every(isBatchCommand) ? undefined : await digestOfKeys(session);
  const outcomes = await carryOutAll(session, commands, orders);
  // Other commands make no revisions; a rechain can set the revision back to one with events of others.
  const after = commands.every(isBatchCommand) ? await readRevision(session) : undefined;
  if (after === undefined ? outcomes.every(isRefusal) : after === before)
    return [undefined, ...outcomes];
  const auditId = await recordAction(session, action, keysBefore);
  if (after !== undefined) {
    await recordOperator(session, { first: before + 1n, last: after }, auditId);
  }
  return [auditId, ...outcomes];
}

/** Outcomes of operators' commands without an effect, other than changes of orders. */
const REFUSALS: readonly OutcomeOf<StoreCommand>[] = [
  ...(['changed', 'unchanged', 'key_not_found'] as const),
  ...(['out_of_turn', 'already_imported', 'import_not_found'] as const),
  ...([
    'webhook_not_found',
    'webhook_url_taken',
    'webhook_limit_reached',
    'too_many_webhooks',
  ] as const),
];

function isRefusal(outcome: OutcomeOf<StoreCommand>): boolean {
  return REFUSALS.includes(outcome);
}

async function carryOutAll(
  session: Session,
  commands: readonly StoreCommand[],
  orders: OrderWrites,
): Promise<OutcomeOf<StoreCommand>[]> {
  if (commands.every(isBatchCommand)) return orders.changeOrders(commands);
  const outcomes: OutcomeOf<StoreCommand>[] = [];
  for (const command of commands) outcomes.push(await carryOutOne(session, command, orders));
  return outcomes;
}

/** Carries out one command. PostgreSQL also does so without a transaction, for commands of a single statement. */
export async function carryOutOne(
  session: Session,
  command: StoreCommand,
  orders: OrderWrites,
): Promise<OutcomeOf<StoreCommand>> {
  switch (command.type) {
    case 'insertOrder':
    case 'cancel':
    case 'ship':
    case 'placeOrder':
    case 'bulk':
      return (await orders.changeOrders([command]))[0]!;
    case 'importOrders':
      return orders.importOrders(command);
    case 'recordEnvironment':
      return recordEnvironment(session, command.environment);
    case 'moveAway':
      return moveAway(session, command.to, command.revision);
    case 'reactivate':
      return reactivate(session);
    case 'audit':
      return recordAction(session, command.action);
    case 'rechain':
      await orders.rechain(command.from);
      return 'rechained';
    case 'limitIds':
      return limitIds(session, command.last);
    case 'skipIds':
      return skipIds(session);
    case 'createKey':
      return createKey(session, command.key);
    case 'createFirstKey':
      return createFirstKey(session, command.key);
    case 'revokeKey':
      return revokeKey(session, command.id);
    case 'rotateKey':
      return rotateKey(session, command);
    case 'endOverlap':
      return endOverlap(session, command.id);
    case 'recordKeyUse':
      return recordKeyUse(session, command);
    case 'recordListUse':
      return recordListUse(session, command.at);
    case 'putPets':
      return putPets(session, command.pets);
    case 'beginImport':
      return beginImport(session, command);
    case 'endImport':
      return endImport(session, command);
    case 'forgetImport':
      return forgetImport(session, command);
    case 'createWebhook':
      return insertWebhook(session, command);
    case 'changeWebhook':
      return replaceWebhook(session, command);
    case 'rotateWebhook':
      return rotateWebhook(session, command);
    case 'deleteWebhook':
      return removeWebhook(session, command);
    case 'leaseWebhooks':
      return leaseWebhooks(session, command);
    case 'releaseWebhooks':
      return releaseWebhooks(session, command);
    case 'recordDeliveries':
      return recordDeliveries(session, command);
  }
}
