/** One side of a comparison; `measure` returns a rate. */
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
  /** The name of the other side. */
  readonly peer: string;
  /** The rates of store-orders and of the peer. */
  readonly rates: readonly [Spread, Spread];
  /** The ratio of both rates per round, so that fluctuations of the machine affect both sides. */
  readonly ratio: Spread;
}

/** Measures all sides in turn, A B C A B C …, after one warm-up round that does not count. */
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

/** Compares rates measured in the same rounds. */
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
