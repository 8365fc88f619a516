import { type RunOptions, run } from '../process/program.ts';

/** Runs a command of the program in this process. @returns what it printed @throws Error if it fails */
export async function succeed(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, options);
  if (code !== 0) throw new Error(`${args.join(' ')} failed:\n${stderr}`);
  return stdout.trim();
}
