import type { CommandOf } from '../commands.ts';
import type { History, ImportRecord } from '../history.ts';
import { type Commands, number, type Row, type Session, type StoreReads, text } from './session.ts';
import { readFreeIds } from './store-row.ts';

/** Maximum number of finished imports in the store; older ones are deleted. */
const FINISHED_IMPORTS_KEPT = 1_000;

export const importProgress: StoreReads<History>['importProgress'] = async (session, source) => {
  const known = await findImport(session, source);
  return {
    placed: rowsPlaced(known),
    finished: known?.finishedAt === undefined ? undefined : known,
    freeIds: await readFreeIds(session),
  };
};

export const readImports: StoreReads<History>['imports'] = async (session) =>
  (await session.query(SQL.all, [FINISHED_IMPORTS_KEPT])).map(importFromRow);

async function findImport(session: Session, source: string): Promise<ImportRecord | undefined> {
  const [row] = await session.query(SQL.find, [source]);
  return row && importFromRow(row);
}

/** Returns how many rows of the same content a new run skips: none if the import is finished, or not recorded. */
function rowsPlaced(known: ImportRecord | undefined): number {
  return known === undefined || known.finishedAt !== undefined ? 0 : known.placed;
}

function importFromRow([source, name, placed, total, begunAt, finishedAt]: Row): ImportRecord {
  return {
    source: source as string,
    name: text(name),
    placed: Number(placed),
    total: number(total),
    begunAt: number(begunAt),
    finishedAt: number(finishedAt),
  };
}

/** Returns whether a run is the latest of an import, and may continue it. */
export async function isLatestRun(
  session: Session,
  { source, run }: Pick<CommandOf<'importOrders'>, 'source' | 'run'>,
): Promise<boolean> {
  return (await session.query(SQL.isLatestRun, [source, run])).length > 0;
}

export const importCommands = {
  async beginImport(session, { source, run, from, highestId, name, total, isAgain }) {
    const known = await findImport(session, source);
    if (known?.finishedAt !== undefined && !isAgain) return 'already_imported';
    if (rowsPlaced(known) !== from) return 'out_of_turn';
    await session.write(SQL.begin, [source, run, from, highestId, name, total, Date.now()]);
    return 'begun';
  },

  async endImport(session, { source, run }) {
    if ((await session.write(SQL.end, [Date.now(), source, run])) === 0) return 'out_of_turn';
    await session.write(SQL.forgetOldest, [FINISHED_IMPORTS_KEPT]);
    return 'ended';
  },

  async forgetImport(session, { source }) {
    return (await session.write(SQL.forget, [source])) === 0 ? 'import_not_found' : 'forgotten';
  },
} satisfies Partial<Commands>;

const COLUMNS = 'source, name, placed, total, begun_at, finished_at';

const SQL = {
  find: `SELECT ${COLUMNS} FROM imports WHERE source = $1`,
  all: `SELECT ${COLUMNS} FROM imports ORDER BY finished_at DESC NULLS FIRST, begun_at DESC LIMIT $1`,
  begin: `INSERT INTO imports (source, run, placed, highest_id, name, total, begun_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (source) DO UPDATE SET run = excluded.run, placed = excluded.placed, highest_id = excluded.highest_id,
      name = excluded.name, total = excluded.total, finished_at = NULL,
      begun_at = CASE WHEN excluded.placed = 0 THEN excluded.begun_at ELSE imports.begun_at END`,
  isLatestRun: 'SELECT 1 FROM imports WHERE source = $1 AND run = $2',
  // A finished import no longer reserves ids.
  end: `UPDATE imports SET finished_at = $1, run = '', highest_id = 0 WHERE source = $2 AND run = $3`,
  forget: 'DELETE FROM imports WHERE source = $1',
  forgetOldest: `DELETE FROM imports WHERE finished_at IS NOT NULL AND source NOT IN
    (SELECT source FROM imports WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT $1)`,
} as const;
