import { run } from '../../process/program.ts';
import { parse } from '../http.ts';
import type { Replaced } from './deployment.ts';
import { changeOf } from './timeline.ts';

/** Reads all changes of a store by the command. @throws Error if it fails */
export async function changesOf(database: string): Promise<Replaced> {
  const { code, stdout, stderr } = await run(['changes', '--database', database]);
  if (code !== 0) throw new Error(`the changes cannot be read: ${stderr}`);
  const lines = stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map(parse);
  return { changes: lines.map(changeOf), cursor: lines.at(-1)?.cursor };
}
