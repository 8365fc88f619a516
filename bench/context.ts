import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Comparison } from './compare.ts';
import { fill } from './store-orders.ts';

/** What scenarios share. */
export class Context {
  readonly folder = mkdtempSync(join(tmpdir(), 'store-orders-bench-'));
  /** That count, after one that does not. */
  readonly rounds: number;
  /** Of one measurement. */
  readonly seconds: number;
  readonly #maxOrders: number;

  /** Quick: a minute's look, with fewer orders too. */
  constructor(isQuick: boolean) {
    // nginx reads from it as another user.
    chmodSync(this.folder, 0o755);
    this.rounds = isQuick ? 1 : 5;
    this.seconds = isQuick ? 1 : 3;
    this.#maxOrders = isQuick ? 400_000 : Number.POSITIVE_INFINITY;
  }

  /** As many or, for a quick look, as there is time for. */
  orders(count: number): number {
    return Math.min(count, this.#maxOrders);
  }

  /** A new SQLite database with so many pending orders, 1 and up; `name` is for nobody else. */
  database(count: number, name: string): string {
    const template = join(this.folder, `template-${count}.db`);
    const path = join(this.folder, `${name}-${count}.db`);
    if (count > 0) {
      if (!existsSync(template)) fill(`sqlite:${template}`, count);
      copyFileSync(template, path);
    }
    return `sqlite:${path}`;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One line of the report. */
export interface Row {
  readonly what: string;
  /** Name of our side; absent: store-orders. */
  readonly name?: string;
  /** Name of the peer. */
  readonly against: string;
  /** Medians of ours and the peer's, and their unit; absent for a count. */
  readonly rates?: readonly [number, number];
  readonly rateUnit: string;
  /** The figure that matters, and what it is to reach. */
  readonly figure: number;
  readonly least?: number;
  readonly most?: number;
  readonly unit: '×' | 'bytes' | 'MB' | '';
  /** Absent: nothing in particular. */
  readonly reach?: { readonly atLeast: number } | { readonly atMost: number };
}

export interface Scenario {
  readonly title: string;
  /** Programs without which it cannot run. */
  readonly needs: readonly string[];
  readonly run: (context: Context) => Promise<Row[]>;
}

/** Rows of comparisons, each with what its ratio is to reach. */
export function ratioRows(
  what: string,
  comparisons: readonly Comparison[],
  unit: string,
  reaches: readonly (Row['reach'] | undefined)[],
): Row[] {
  return comparisons.map(({ peer, rates, ratio }, index) => {
    const reach = reaches[index];
    return {
      what,
      against: peer,
      rates: [rates[0].median, rates[1].median] as const,
      rateUnit: unit,
      figure: ratio.median,
      least: ratio.least,
      most: ratio.most,
      unit: '×' as const,
      ...(reach !== undefined && { reach }),
    };
  });
}

/** Three digits that count. */
export function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(3)).toString();
}
