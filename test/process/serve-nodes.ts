import type { TestContext } from 'node:test';
import { type Running, run, serve } from './program.ts';

/** Starts nodes concurrently on one database, and creates a key; `call` calls a node by its number. */
export async function serveNodes(t: TestContext, count: number, database: string) {
  const nodes = await Promise.all(
    Array.from({ length: count }, () => serve(t, [], { database, expectsKey: false })),
  );
  const { stdout } = await run(['keys', 'create', '--name', 'test', '--database', database]);
  const secret = stdout.trim();
  const authorization = `Bearer ${secret}`;
  const call = (
    node: number,
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body?: string,
  ): ReturnType<Running['call']> =>
    nodes[node % count]!.call(method, path, { authorization, ...headers }, body);
  return { nodes, call, secret };
}
