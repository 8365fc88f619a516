import type { Activity } from '../../protocol/generated/records.ts';

/** Reads the counts of some periods, part by part, and adds them up. */
export async function addedUp(
  read: (cursor: string | undefined) => Promise<Activity>,
): Promise<Activity> {
  let part = await read(undefined);
  let sum = part;
  while (part.next !== undefined) {
    part = await read(part.next);
    sum = sumOf(sum, part);
  }
  const { periods, cancels, revision, head } = sum;
  return { periods, cancels, revision, head };
}

function sumOf(sum: Activity, part: Activity): Activity {
  const { revision, head } = part;
  const periods = sum.periods.map((period, index) => {
    const { placed, cancelled, shipped } = part.periods[index]!;
    return {
      ...period,
      placed: period.placed + placed,
      cancelled: period.cancelled + cancelled,
      shipped: period.shipped + shipped,
    };
  });
  const byKey = new Map(sum.cancels.map((each) => [each.by, each]));
  for (const each of part.cancels) {
    const cancelled = (byKey.get(each.by)?.cancelled ?? 0n) + each.cancelled;
    byKey.set(each.by, { ...each, cancelled });
  }
  const cancels = [...byKey.values()].sort((one, other) => Number(other.cancelled - one.cancelled));
  return { periods, cancels, revision, head };
}
