import type { Command } from 'commander';
import { CSV_COLUMNS } from '../../../protocol/csv.ts';
import type { Order } from '../../domain/order.ts';
import { formatTimestamp, timeText } from '../../domain/timestamp.ts';
import { type AuditRecord, operatorOf } from '../../store/audit.ts';
import { type OrderEvent, orderWithHistory } from '../../store/store.ts';
import { type DatabaseFlags, databaseCommand, withStore } from '../command-database.ts';
import { CommandFailed, fieldsText, table, writeJson, writeOut } from '../terminal/terminal.ts';
import { orderIdArgument } from './change-orders.ts';

export function showCommand(): Command {
  return databaseCommand(
    'show',
    'show one order, in any status, with its history',
    'npx store-orders show 17\nnpx store-orders show 17 --json',
  )
    .argument('<id>', 'id of the order')
    .option('--json', 'print a JSON object')
    .action(show);
}

async function show(text: string, flags: DatabaseFlags & { json?: true }): Promise<void> {
  const id = orderIdArgument(text);
  await withStore(flags, 'read', async (store) => {
    const found = await orderWithHistory(store, id, { evenIfMoved: true });
    if (found === undefined) throw new CommandFailed(`there is no order ${id}`);
    const { order, events } = found;
    const operators = await store.history.operators(events.map(({ revision }) => revision));
    const record = recordOf(order, events, operators);
    await (flags.json ? writeJson(record) : writeOut(describe(record)));
  });
}

/** Shown as the author of changes made without an API key; not a valid key id. */
const OPERATOR = 'operator';

/** @param operators whose commands caused changes, by revision */
function recordOf(
  order: Order,
  events: readonly OrderEvent[],
  operators: ReadonlyMap<bigint, AuditRecord>,
) {
  const fields = { ...order, shipDate: timeText(order.shipDate) };
  return {
    ...Object.fromEntries(CSV_COLUMNS.map((name) => [name, fields[name]])),
    history: events.map(({ revision, type, at, by }) => {
      const command = by === undefined ? operators.get(revision) : undefined;
      return {
        revision,
        type,
        at: formatTimestamp(at),
        by: by ?? OPERATOR,
        operator: command && operatorOf(command),
      };
    }),
  };
}

function describe({ history, ...fields }: ReturnType<typeof recordOf>): string {
  const lines = history.map(({ at, type, revision, by, operator }) => [
    at,
    type,
    `revision ${revision}`,
    by === OPERATOR ? `by ${operator ?? 'an operator'}` : `with ${by}`,
  ]);
  return `${fieldsText(fields)}\n${lines.length === 0 ? 'no history\n' : table(lines)}`;
}
