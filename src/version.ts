import packageJson from '../package.json' with { type: 'json' };
import { asset } from './assets.ts';

/** Release version, as in package.json and CHANGELOG.md. The contract is versioned separately. */
export const VERSION = packageJson.version;

/** Abbreviated id of the commit that is checked out, or that the npm package was built from; otherwise "unknown". */
export const COMMIT = read('commit')?.trim() ?? checkedOut() ?? 'unknown';

function read(path: string): string | undefined {
  try {
    return asset(path);
  } catch {
    return undefined;
  }
}

function checkedOut(): string | undefined {
  const git = (path: string) => read(`.git/${path}`);
  const head = git('HEAD')?.trim() ?? '';
  const name = /^ref: (.+)$/.exec(head)?.[1];
  const packed = git('packed-refs')?.split('\n') ?? [];
  const id =
    name === undefined
      ? head
      : (git(name)?.trim() ?? packed.find((line) => line.endsWith(` ${name}`))?.split(' ')[0]);
  return /^[0-9a-f]{40,64}$/.test(id ?? '') ? id!.slice(0, 12) : undefined;
}
