import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { assetBytes, IS_CLONE } from '../src/assets.ts';
import { addFixed } from '../src/http/request/fixed-response.ts';
import type { Router } from '../src/http/request/router.ts';

const PATH = '/client.tgz';
/** When a failed attempt to pack is repeated: it takes seconds, and requests here need no key. */
const AGAIN_MS = 60_000;
/** What a clone needs to pack the client, at the first request. */
const COMPILER = '../node_modules/typescript/';

/** Adds the client library as a package for "npm install URL", and its SHA-256 as a line for "sha256sum --check". */
export function addClientPackage(router: Router): void {
  if (IS_CLONE && !existsSync(new URL(COMPILER, import.meta.url))) return;
  let packing: Promise<Buffer> | undefined;
  const packed = () => {
    if (packing === undefined) {
      packing = IS_CLONE ? packedNow() : Promise.resolve(assetBytes('client.tgz'));
      packing.catch(() => {
        setTimeout(() => {
          packing = undefined;
        }, AGAIN_MS).unref();
      });
    }
    return packing;
  };
  addFixed(router, { path: PATH, type: 'application/gzip', make: packed }, [
    ...['content-disposition', 'attachment; filename="store-orders-client.tgz"'],
  ]);
  addFixed(router, {
    path: `${PATH}.sha256`,
    type: 'text/plain; charset=utf-8',
    make: async () =>
      `${createHash('sha256')
        .update(await packed())
        .digest('hex')}  client.tgz\n`,
  });
}

async function packedNow(): Promise<Buffer> {
  const { packClient } = await import('./pack-client.ts');
  return packClient();
}
