/** One of those that are compared; `measure` takes the number of the round and gives a rate. */
export interface Side {
  readonly name: string;
  readonly measure: (round: number) => Promise<number>;
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
      const rate = await side.measure(round);
      if (round > 0) values.push(rate);
    }
  }
  const own = rates.get(ours)!;
  return peers.map((peer) => ({
    peer: peer.name,
    rates: [spread(own), spread(rates.get(peer)!)],
    ratio: spread(own.map((rate, round) => rate / rates.get(peer)![round]!)),
  }));
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
