import { readFileSync } from 'node:fs';
import { queryDatabase } from './engines.ts';

/** Edits orders as they could be edited before migration 025: an order can have a reason or a tracking number in any status. */
export async function editDetails(url: string, sql: string): Promise<void> {
  const isSqlite = url.startsWith('sqlite:');
  const name = `025-details.${isSqlite ? 'sqlite' : 'postgres'}.sql`;
  const text = readFileSync(new URL(`../../src/store/migrations/${name}`, import.meta.url), 'utf8');
  const [without, again] = isSqlite
    ? [
        ['DROP TRIGGER details_of_new', 'DROP TRIGGER details_of_changed'],
        text.match(/^CREATE TRIGGER .*?^END;$/gms)!,
      ]
    : [['ALTER TABLE orders DROP CONSTRAINT orders_details'], [text.replaceAll(/^--.*$/gm, '')]];
  for (const each of [...without, sql, ...again]) await queryDatabase(url, each);
}
