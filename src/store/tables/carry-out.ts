import {
  type BatchCommand,
  type BatchOutcome,
  isBatchCommand,
  type Known,
  type Lookups,
} from '../../domain/batch.ts';
import type { ChangeResult } from '../../domain/bulk.ts';
import type { OutcomeOf, StoreCommand } from '../commands.ts';
import { recordAction, recordOperator } from './audit.ts';
import { digestOfKeys } from './audit-chain.ts';
import { findRequests } from './bulk-requests.ts';
import { findUses } from './hourly-uses.ts';
import { importCommands } from './imports.ts';
import { keyCommands } from './keys.ts';
import { findReferences } from './orders.ts';
import { putPets } from './pets.ts';
import { findPlacements } from './placements.ts';
import type { Commands, Session } from './session.ts';
import { readFreeIds, readRevision, storeCommands } from './store-row.ts';
import { webhookCommands } from './webhooks.ts';

/** The commands that each engine carries out with statements of its own. */
interface OrderWrites<Own> extends Pick<Commands<Own>, 'importOrders' | 'rechain'> {
  readonly changeOrders: (
    session: Own,
    commands: readonly BatchCommand[],
  ) => Promise<BatchOutcome[]>;
}

/** Reads what commands depend on besides orders. */
export async function findOthers(
  session: Session,
  { placements, references, bulkRequests, limitedKeys }: Omit<Lookups, 'ids'>,
): Promise<Omit<Known, 'orders'>> {
  const [known, named, repeatable, uses, freeIds] = await Promise.all([
    findPlacements(session, placements),
    findReferences(session, references),
    findRequests<readonly ChangeResult[]>(session, bulkRequests),
    findUses(session, limitedKeys),
    placements.length === 0 ? undefined : readFreeIds(session),
  ]);
  return { placements: known, references: named, bulkRequests: repeatable, uses, freeIds };
}

/** Returns whether commands may be applied to a store that was moved to another database. */
export function areForMovedStore(commands: readonly StoreCommand[]): boolean {
  return commands.every(({ type }) => type === 'reactivate' || type === 'audit');
}

/**
 * Carries out commands in order, in a transaction that excludes all other writers; on PostgreSQL also a command of a single statement without one.
 * Those after `audit` are one action of an operator, which is recorded unless it was refused.
 */
export async function carryOut<Own extends Session>(
  session: Own,
  commands: readonly StoreCommand[],
  orders: OrderWrites<Own>,
): Promise<OutcomeOf<StoreCommand>[]> {
  const [first] = commands;
  if (first?.type !== 'audit' || commands.length === 1) {
    return carryOutAll(session, commands, orders);
  }
  const others = commands.slice(1);
  const areOfOrders = others.every(isBatchCommand);
  const before = await readRevision(session);
  const keysBefore = areOfOrders ? undefined : await digestOfKeys(session);
  const outcomes = await carryOutAll(session, others, orders);
  // Other commands make no revisions; a rechain can set the revision back to one with events of others.
  const after = areOfOrders ? await readRevision(session) : undefined;
  const isRefused =
    after === undefined
      ? outcomes.every((outcome) => REFUSALS.includes(outcome))
      : after === before;
  if (isRefused) return [undefined, ...outcomes];
  const auditId = await recordAction(session, first.action, keysBefore);
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

async function carryOutAll<Own extends Session>(
  session: Own,
  commands: readonly StoreCommand[],
  orders: OrderWrites<Own>,
): Promise<OutcomeOf<StoreCommand>[]> {
  if (commands.every(isBatchCommand)) return orders.changeOrders(session, commands);
  const outcomes: OutcomeOf<StoreCommand>[] = [];
  for (const command of commands) outcomes.push(await carryOutOne(session, command, orders));
  return outcomes;
}

const COMMANDS: Omit<Commands, BatchCommand['type'] | 'importOrders' | 'rechain'> = {
  ...storeCommands,
  ...keyCommands,
  ...importCommands,
  ...webhookCommands,
  putPets,
  audit: (session, { action }) => recordAction(session, action),
};

async function carryOutOne<Own extends Session>(
  session: Own,
  command: StoreCommand,
  orders: OrderWrites<Own>,
): Promise<OutcomeOf<StoreCommand>> {
  if (isBatchCommand(command)) return (await orders.changeOrders(session, [command]))[0]!;
  if (command.type === 'importOrders') return orders.importOrders(session, command);
  if (command.type === 'rechain') return orders.rechain(session, command);
  const carryOutIt = COMMANDS[command.type] as Commands[StoreCommand['type']];
  return carryOutIt(session, command as never);
}
