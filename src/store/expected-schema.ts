import { asset } from '../assets.ts';
import { printable } from '../domain/text.ts';
import { type Engine, StoreNotUsable } from './store.ts';

/** Differences that are listed; a foreign or broken schema can have any number. */
const MAX_NAMED = 20;

const LACKS = 'the schema lacks:';

/**
 * Compares a schema with migrations/schema.ENGINE.txt, the result of this release's migrations: a line per column, key, index, check, view, trigger
 * and function. Other tables and further indexes do not matter.
 * @param found the lines that describe the schema of a database
 * @returns one line per difference
 */
export function schemaDifferences(engine: Engine['name'], found: readonly string[]): string[] {
  const expected = expectedSchema(engine);
  const missing = expected.filter((line) => !found.includes(line));
  const tables = new Set(expected.map(tableOf));
  const instead = found.filter((line) => tables.has(INSTEAD.exec(line)?.[1] ?? ''));
  const unknown = found.filter(
    (line) => line.startsWith('column ') && tables.has(tableOf(line)) && !expected.includes(line),
  );
  return [
    ...missing.map((line) => `${LACKS} ${line}`),
    ...instead.map((line) => `the schema has instead: ${line}`),
    ...unknown.map((line) => `the schema has an unknown column: ${line}`),
  ].slice(0, MAX_NAMED);
}

/** What an operator may add: an index of columns, which evaluates nothing, and refuses no row. */
const PLAIN_INDEX = /^index \w+ \([\w, "]+\)$/;
const FOREIGN = /^(?:trigger|rule|policy|constraint|check|unique|index|child) (\w+)/;

/** Returns what no migration made, on the tables of a PostgreSQL store, one line each: it can change or refuse what is written. @param found see `schemaDifferences` */
export function foreignObjects(found: readonly string[]): string[] {
  const expected = expectedSchema('postgresql');
  const tables = new Set(expected.map(tableOf));
  return foreignLines(
    found
      .filter((line) => tables.has(FOREIGN.exec(line)?.[1] ?? '') && !PLAIN_INDEX.test(line))
      .filter((line) => !expected.includes(line)),
  );
}

const FOREIGN_LINE = 'the schema has what no migration made:';

/** Returns the lines of objects that no migration made, such as "trigger orders t". */
export function foreignLines(objects: readonly string[]): string[] {
  return objects.slice(0, MAX_NAMED).map((each) => `${FOREIGN_LINE} ${printable(each)}`);
}

/** Whether a store can be restored without the object of such a line: a condition of one of its own tables stays. */
export function canBeLeftOut(line: string): boolean {
  return !line.startsWith(`${FOREIGN_LINE} table `);
}

/**
 * @throws StoreNotUsable if the schema lacks something. Columns that an operator has added are ignored, and a replica identity that is lost matters
 * to publications only.
 */
export function expectNothingMissing(differences: readonly string[]): void {
  const missing = differences.filter(
    (each) => each.startsWith(LACKS) && !each.startsWith(`${LACKS} identity `),
  );
  if (missing.length === 0) return;
  throw new StoreNotUsable(
    ['its schema is not the one that this release expects:', ...missing].join('\n  '),
  );
}

export function expectedSchema(engine: Engine['name']): string[] {
  return asset(`src/store/migrations/schema.${engine}.txt`).trim().split('\n');
}

/** The kind of relation that has the name of a table. */
const INSTEAD = /^(?:unlogged table|foreign table|view) (\w+)$/;

/** column orders.id bigint -> orders */
function tableOf(line: string): string | undefined {
  return /^column (\w+)\./.exec(line)?.[1];
}

/** Message for the operator about an older schema that the command must not migrate. */
export function olderSchema(from: number, to: number): string {
  return (
    `its schema is that of an earlier release (${from} of ${to} migrations); update it with "store-orders migrate", ` +
    'after which services of that release may have to be replaced (docs/upgrading.md)'
  );
}
