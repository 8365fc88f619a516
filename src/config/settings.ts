/** Values by variable: the process environment, or flags under the name of the variable they stand for. */
export type Settings = Readonly<Partial<Record<string, string>>>;

/** The settings are not usable; `problems` holds every mistake, each naming its variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Reads settings one by one and collects what is wrong with them. Flags come before the environment. */
export class SettingsReader<Variable extends string> {
  readonly problems: string[] = [];
  readonly #settings: Settings;
  readonly #flags: Settings;
  readonly #defaults: Settings;

  constructor(environment: Settings, flags: Settings, defaults: Settings) {
    const given = Object.entries(flags).filter(([, value]) => value !== undefined);
    this.#flags = Object.fromEntries(given);
    this.#settings = { ...environment, ...this.#flags };
    this.#defaults = defaults;
  }

  /** An empty value counts as none, as in `PORT= npm start`. */
  given(variable: Variable): string | undefined {
    return this.#settings[variable] || undefined;
  }

  isSet(variable: Variable): boolean {
    return this.given(variable) !== undefined;
  }

  /** What the setting is called where it was given: by its flag, or the variable. */
  nameOf(variable: Variable): string {
    if (this.#flags[variable] === undefined) return variable;
    return `--${variable.toLowerCase().replaceAll('_', '-').replace('database-url', 'database')}`;
  }

  /** What is set, or the default; `parse` returns undefined for what is not `expected`. */
  read<T>(
    variable: Variable,
    parse: (text: string) => T | undefined,
    expected: string,
  ): T | undefined {
    const source = this.isSet(variable) ? this.#settings : this.#defaults;
    const text = source[variable] ?? '';
    const value = parse(text);
    if (value === undefined) {
      this.problems.push(`${this.nameOf(variable)} must be ${expected}, not "${text}"`);
    }
    return value;
  }

  /** Throws if anything was wrong; what was read is complete otherwise. */
  finish(): void {
    if (this.problems.length > 0) throw new ConfigError(this.problems);
  }
}
