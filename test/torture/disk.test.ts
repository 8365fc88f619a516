import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disk, FATES, type Image } from './power-cuts/disk.ts';
import type { Entry } from './power-cuts/record.ts';
import { Random } from './random.ts';

const PAGE = Buffer.alloc(8_192, 1);
const OPENED = { kind: 'opened', inode: 1n, path: '/root/a', born: 0n } as const;
const FOLDER = { kind: 'folder opened', inode: 9n, path: '/root' } as const;

function synced(inode: bigint): Entry[] {
  return [
    { kind: 'sync begun', inode, sync: `${inode}` },
    { kind: 'sync done', inode, sync: `${inode}` },
  ];
}

/** Every image of 600 power cuts after these entries. */
function images(...entries: readonly Entry[]): Image[] {
  const disk = new Disk('/root');
  disk.add('/root');
  for (const entry of entries) disk.apply(entry);
  return Array.from({ length: 600 }, (_, seed) => {
    const random = new Random(seed);
    return disk.afterPowerCut(random.pick(FATES), random);
  });
}

/** The distinct contents of the file; undefined without the file. */
function contents(all: readonly Image[]): Set<string | undefined> {
  return new Set(all.map((image) => image.get('/root/a')?.bytes.toString('hex')));
}

test('a file whose content and name were synced is kept', () => {
  const written = { kind: 'written', inode: 1n, at: 0, bytes: PAGE } as const;
  const all = images(OPENED, FOLDER, written, ...synced(1n), ...synced(9n));
  assert.deepEqual(contents(all), new Set([PAGE.toString('hex')]));
});

test('a name is lost unless its folder was synced, and content unless the file was', () => {
  const written = { kind: 'written', inode: 1n, at: 0, bytes: PAGE } as const;
  const nameless = contents(images(OPENED, FOLDER, written, ...synced(1n)));
  assert.deepEqual(nameless, new Set([undefined, PAGE.toString('hex')]));
  const empty = contents(images(OPENED, FOLDER, written, ...synced(9n)));
  assert.ok(empty.has('') && empty.has(PAGE.toString('hex')) && !empty.has(undefined));
});

test('an unsynced write is torn into blocks of 512 bytes and of 4 KiB', () => {
  const second = { kind: 'written', inode: 1n, at: 0, bytes: Buffer.alloc(8_192, 2) } as const;
  const first = { kind: 'written', inode: 1n, at: 0, bytes: PAGE } as const;
  const found = contents(images(OPENED, FOLDER, first, ...synced(1n), ...synced(9n), second));
  const starts = [...found].map((hex) => {
    const bytes = Buffer.from(hex!, 'hex');
    return bytes.findIndex((byte) => byte !== bytes[0]);
  });
  assert.ok(starts.includes(512) && starts.includes(4_096) && starts.includes(-1));
  assert.ok(starts.every((start) => start === -1 || start % 512 === 0));
});

test('writes that began after a sync are not covered by it', () => {
  const before = { kind: 'written', inode: 1n, at: 0, bytes: Buffer.from('a') } as const;
  const during = { kind: 'written', inode: 1n, at: 1, bytes: Buffer.from('b') } as const;
  const [begun, done] = synced(1n);
  const found = contents(images(OPENED, FOLDER, ...synced(9n), before, begun!, during, done!));
  assert.deepEqual(found, new Set(['61', '6162']));
});

test('a rename is kept whole or not at all, after the changes before it in its folder', () => {
  const other = { kind: 'opened', inode: 2n, path: '/root/b', born: 0n } as const;
  const renamed = { kind: 'renamed', from: '/root/b', to: '/root/a' } as const;
  const names = images(OPENED, FOLDER, ...synced(9n), other, renamed).map((image) => {
    return [...image].flatMap(([path, file]) => (file ? [`${path}=${file.inode}`] : [])).join();
  });
  assert.deepEqual(new Set(names), new Set(['/root/a=1', '/root/a=1,/root/b=2', '/root/a=2']));
});
