/** One of those that are compared; `measure` gives a rate. */
export interface Side {
  readonly name: string;
  readonly measure: () => Promise<number>;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export interface Comparison {
  /** What it is compared with. */
  readonly peer: string;
  /** Ours and the peer's. */
  readonly rates: readonly [Spread, Spread];
  /** Ours by the peer's, round by round: the machine's moods hit both. */
  readonly ratio: Spread;
}

/** Measures ours and its peers in turn, A B C A B C …, after one round that does not count. */
export async function compare(
  ours: Side,
  peers: readonly Side[],
  rounds: number,
): Promise<Comparison[]> {
  const rates = new Map<Side, number[]>([ours, ...peers].map((side) => [side, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [side, values] of rates) {
      const rate = await side.measure();
      if (round > 0) values.push(rate);
    }
  }
  return peers.map((peer) => comparison(peer.name, rates.get(ours)!, rates.get(peer)!));
}

/** Of rates measured in the same rounds. */
export function comparison(
  peer: string,
  own: readonly number[],
  theirs: readonly number[],
): Comparison {
  return {
    peer,
    rates: [spread(own), spread(theirs)],
    ratio: spread(own.map((rate, round) => rate / theirs[round]!)),
  };
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return {
    median: (sorted[Math.floor(middle - 0.5)]! + sorted[Math.floor(middle)]!) / 2,
    least: sorted[0]!,
    most: sorted.at(-1)!,
  };
}
