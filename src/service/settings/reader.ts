import { readFileSync } from 'node:fs';
import { invisibleIn } from '../../domain/text.ts';
import { parseEnvironmentFile } from './environment-file.ts';
import {
  flagOf,
  OTHER_VARIABLES,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingName,
  type ValueOf,
} from './table.ts';

/** Values by variable name: of the environment, or of flags under the names of their variables. */
export type Settings = Readonly<Partial<Record<string, string>>>;

/**
 * Returns the settings of a process: its environment, overridden by the lines of the file that SETTINGS_FILE names. The file can be read again
 * while the process runs.
 * @throws ConfigError
 */
export function readEnvironment(environment: Settings): Settings {
  const path = environment.SETTINGS_FILE?.trim() ?? '';
  if (path === '') return environment;
  try {
    // Bytes that are not UTF-8 are refused.
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { ...environment, ...parseEnvironmentFile(utf8.decode(readFileSync(path))) };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof SyntaxError) throw new ConfigError([`SETTINGS_FILE: ${message}`]);
    throw new ConfigError([`SETTINGS_FILE must be a readable file: ${message}`]);
  }
}

/** Thrown if settings are invalid; `problems` lists every one, each with the name of its variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Reads settings one by one and collects problems. Flags override other settings. */
export class SettingsReader {
  readonly problems: string[] = [];
  readonly #settings: Settings;
  readonly #flags: Settings;

  constructor(environment: Settings, flags: Settings) {
    const given = Object.entries(flags).filter(([, value]) => value !== undefined);
    this.#flags = Object.fromEntries(given);
    this.#settings = { ...environment, ...this.#flags };
  }

  /**
   * Returns the value from flags or environment, without surrounding white space, such as the CR of a Windows file. An empty value counts as not
   * set, as in `PORT= npm start`. A value with invisible characters counts as not set, too, and is recorded as a problem.
   */
  given(name: SettingName): string | undefined {
    const text = this.#settings[name]?.trim() ?? '';
    const invisible = invisibleIn(text);
    if (invisible === undefined) return text || undefined;
    const problem = `${this.nameOf(name)} must not contain ${invisible}`;
    if (!this.problems.includes(problem)) this.problems.push(problem);
    return undefined;
  }

  /** Returns the name under which the setting was given: its flag, or the variable. */
  nameOf(name: SettingName): string {
    return this.#flags[name] === undefined ? name : flagOf(name)!;
  }

  /** Returns the parsed value, or the default; undefined without either. An invalid value is recorded as a problem, and counts as not set. */
  read<Name extends SettingName>(name: Name): ValueOf<Name> | undefined {
    const { parse, expected, default: fallback }: Setting<unknown> = SETTINGS[name];
    const text = this.given(name) ?? fallback;
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) {
      this.problems.push(`${this.nameOf(name)} must be ${expected}, not "${text}"`);
    }
    return value as ValueOf<Name> | undefined;
  }

  /**
   * Reports the problems of all reads; if it returns, every value read is valid.
   * @throws ConfigError if there were problems
   */
  finish(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }
}

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
