import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../temporary.ts';
import { Examiner } from '../torture/power-cuts/examiner.ts';
import { newRoot } from '../torture/power-cuts/recording.ts';
import { firstStart } from '../torture/power-cuts/scenarios/first-start.ts';
import { Random } from '../torture/random.ts';
import { buildShim } from '../torture/shim/build.ts';

/** Points at which the first key, and each of the first orders, was acknowledged. */
const ACKNOWLEDGED = 6;

test('the folder of a new store survives a power cut once its first key was printed', async (t) => {
  const folder = realpathSync(temporaryFolder(t));
  const shim = buildShim(folder);
  if ('reason' in shim) {
    t.skip(shim.reason);
    return;
  }
  const recorded = await firstStart.record(newRoot(folder, 'root'), shim.path);
  const points = new Set(recorded.claims.map(({ at }) => at));
  assert.equal(points.size, ACKNOWLEDGED);
  const examiner = new Examiner(join(folder, 'examiner'), shim.path);
  t.after(() => examiner.end());
  const disk = recorded.begin();
  for (const [point, entry] of recorded.entries.entries()) {
    disk.apply(entry);
    if (!points.has(point)) continue;
    // A disk that keeps only what was synced.
    const image = disk.afterPowerCut('none', new Random(1));
    const cut = { scenario: firstStart, recorded, point, fate: 'none', seed: 1, image } as const;
    assert.equal(await examiner.examine(cut), undefined);
  }
});
