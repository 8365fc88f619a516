import type { Settings } from './settings.ts';
import { OTHER_VARIABLES, SETTING_NAMES } from './table.ts';

/** All variables that the program reads, besides those of OpenTelemetry and PostgreSQL. */
const VARIABLES: readonly string[] = [
  ...SETTING_NAMES,
  ...Object.keys(OTHER_VARIABLES).filter((name) => !name.startsWith('OTEL_')),
];

/** Maximum edit distance by minimum length of the name; shorter names resemble too many others. */
const COMPARED = [
  { length: 8, differences: 2 },
  { length: 7, differences: 1 },
];

/**
 * Returns the unknown variables whose names resemble a known one: they are probably misspelt, and have no effect.
 * @returns pairs of such a name and the variable
 */
export function misspelt(settings: Settings): (readonly [string, string])[] {
  return Object.keys(settings).flatMap((name) => {
    if (VARIABLES.includes(name)) return [];
    const meant = VARIABLES.find((variable) => resembles(name.toUpperCase(), variable));
    return meant === undefined ? [] : [[name, meant] as const];
  });
}

function resembles(name: string, variable: string): boolean {
  const most = COMPARED.find(({ length }) => variable.length >= length)?.differences;
  if (most === undefined || Math.abs(name.length - variable.length) > most)
    return name === variable;
  return differences(name, variable) <= most;
}

/** Returns the Levenshtein distance, row by row of its matrix. */
function differences(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, character] of [...one].entries()) {
    const here = [row + 1];
    for (const [column, each] of [...other].entries()) {
      const replaced = above[column]! + (character === each ? 0 : 1);
      here.push(Math.min(replaced, above[column + 1]! + 1, here[column]! + 1));
    }
    above = here;
  }
  return above.at(-1)!;
}
