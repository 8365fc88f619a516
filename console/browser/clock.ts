export const DAY_MS = 86_400_000;

/** How far the clock of the service is ahead of this computer's, in milliseconds. */
let ahead = 0;

/** Smaller differences can come from the network. */
const TOLERATED_MS = 5_000;

/** Compares the clocks. @param text the time of the service, RFC 3339 */
export function compareClocks(text: string): void {
  const difference = Date.parse(text) - Date.now();
  ahead = Math.abs(difference) < TOLERATED_MS ? 0 : difference;
}

/** The time of the service. */
export const now = (): Date => new Date(Date.now() + ahead);

/** Describes the error of this computer's clock; undefined if it is right. */
export function clockProblem(): string | undefined {
  if (ahead === 0) return undefined;
  const minutes = Math.round(Math.abs(ahead) / 60_000);
  const much =
    minutes < 2 ? 'a minute' : minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
  return `The clock of this computer is ${much} ${ahead > 0 ? 'behind' : 'ahead'}; hints and days are those of the store's clock.`;
}
