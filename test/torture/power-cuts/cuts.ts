import { Random } from '../random.ts';
import { FATES, type Fate, type Image } from './disk.ts';
import type { Entry } from './record.ts';
import type { Recorded } from './recording.ts';
import type { Scenario } from './scenario.ts';

/**
 * Points that are cut in one pass through a record, spread over all of it: the next passes cut the points between them, then all again with
 * other fates. The seed chooses the first pass, so that short runs with different seeds do not all cut the same points.
 */
const POINTS_PER_PASS = 50;

/** A moment of a record: what the disk may have, and what was acknowledged. */
export interface PowerCut {
  readonly scenario: Scenario;
  readonly recorded: Recorded;
  readonly point: number;
  readonly fate: Fate;
  readonly seed: number;
  readonly image: Image;
}

/** The cuts of all records, in turn, so that all of their points are cut equally often, however long a record is. Never ends. */
export function* cutsOf(
  recorded: readonly [Scenario, Recorded][],
  seed: number,
): Generator<PowerCut> {
  const all = recorded.map(([scenario, found]) => {
    const points = pointsOf(found);
    return { cuts: cutsOfOne(scenario, found, { points, seed }), points: points.length, made: 0 };
  });
  for (;;) {
    const next = all.reduce((least, each) =>
      each.made / each.points < least.made / least.points ? each : least,
    );
    next.made += 1;
    yield next.cuts.next().value as PowerCut;
  }
}

/** Where the power may be cut: after the entries that change the disk or the claims. */
function pointsOf(recorded: Recorded): number[] {
  return recorded.entries.flatMap((entry, at) =>
    at >= recorded.from && matters(entry, at, recorded) ? [at] : [],
  );
}

/** Cuts the power at the points of a record, in passes from its beginning to its end, again and again with other fates. Never ends. */
function* cutsOfOne(
  scenario: Scenario,
  recorded: Recorded,
  { points, seed }: { readonly points: readonly number[]; readonly seed: number },
): Generator<PowerCut> {
  const stride = Math.ceil(points.length / POINTS_PER_PASS);
  for (let pass = 0; ; pass += 1) {
    const chosen = new Set(points.filter((_, index) => index % stride === (seed + pass) % stride));
    const disk = recorded.begin();
    for (const [point, entry] of recorded.entries.entries()) {
      disk.apply(entry);
      if (!chosen.has(point)) continue;
      const cutSeed = (seed ^ Math.imul(pass * 65_537 + point + 1, 0x9e3779b9)) >>> 0;
      const random = new Random(cutSeed);
      const fate = random.pick(FATES);
      const image = disk.afterPowerCut(fate, random);
      yield { scenario, recorded, point, fate, seed: cutSeed, image };
    }
  }
}

/** Whether the disk or the claims differ from those of the entry before. */
function matters({ kind }: Entry, point: number, { claims }: Recorded): boolean {
  if (kind === 'sent' || kind === 'exited') return claims.some(({ at }) => at === point);
  return kind !== 'folder opened' && kind !== 'sync begun';
}
