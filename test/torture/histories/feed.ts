import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { PROGRAM } from '../../process/program.ts';
import { parse } from '../http.ts';
import type { Replaced } from './deployment.ts';
import { type Change, changeOf, textOf } from './timeline.ts';

/** Reads all changes of a store by the command. @throws Error if it fails, or if a change is not after the one before: such a feed may not end */
export async function changesOf(database: string): Promise<Replaced> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [PROGRAM, 'changes', '--database', database], {
    env: { PATH, NODE_COMPILE_CACHE } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const errors = text(child.stderr);
  const changes: Change[] = [];
  let cursor: string | undefined;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const found = parse(line);
      const [before, change] = [changes.at(-1), changeOf(found)];
      if (before !== undefined && !isAfter(change, before))
        throw new Error(`the feed has ${textOf(change)} after ${textOf(before)}`);
      changes.push(change);
      cursor = found.cursor;
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the changes cannot be read: ${await errors}`);
  return { changes, cursor };
}

/** By revision, then by order id. */
function isAfter(change: Change, before: Change): boolean {
  if (change.revision !== before.revision) return change.revision > before.revision;
  return BigInt(change.order) > BigInt(before.order);
}
