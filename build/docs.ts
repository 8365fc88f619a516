// node build/docs.ts: writes the tables of settings and commands into docs/configuration.md and docs/commands.md, from the tables in
// the code. A test compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';
import {
  defaultOf,
  flagOf,
  OTHER_VARIABLES,
  SETTING_NAMES,
  SETTINGS,
} from '../src/service/settings/table.ts';

const DOCS = new URL('../docs/', import.meta.url);
/** The documents that have a table between two comments. */
const TABLES = {
  'configuration.md': settingsTable,
  'commands.md': commandsTable,
} as const;

/** Returns the documents with their tables as they are to be. */
export function documentsWithTables(): Record<string, string> {
  const written = Object.entries(TABLES).map(([name, tableOf]) => {
    const text = readFileSync(new URL(name, DOCS), 'utf8');
    const table = /(<!-- table -->\n\n).*?(\n\n<!-- end -->)/s;
    if (!table.test(text)) throw new Error(`docs/${name} has no place for its table`);
    return [name, text.replace(table, (_, begin, end) => begin + tableOf() + end)];
  });
  return Object.fromEntries(written);
}

function settingsTable(): string {
  const settings = SETTING_NAMES.map((name) => {
    const flag = flagOf(name);
    const fallback = defaultOf(name);
    return row([
      code(name),
      flag === undefined ? '' : code(flag),
      fallback === undefined ? '' : /^[^ ]+$/.test(fallback) ? code(fallback) : fallback,
      SETTINGS[name].help,
    ]);
  });
  const others = Object.entries(OTHER_VARIABLES).map(([name, help]) =>
    row([code(name), '', '', help]),
  );
  const head = ['| Variable | Flag | Default | Meaning |', '| --- | --- | --- | --- |'];
  return [...head, ...settings, ...others].join('\n');
}

function commandsTable(): string {
  const lines: string[] = [];
  let heading = '';
  for (const command of buildProgram(() => {}).commands) {
    if (command.helpGroup() !== heading) {
      heading = command.helpGroup();
      lines.push(
        '',
        `### ${heading.replace(':', '')}`,
        '',
        '| Command | What it does |',
        '| --- | --- |',
      );
    }
    const own = command.commands.length === 0 ? [command] : command.commands;
    for (const each of own) lines.push(row([code(usageOf(each)), each.description()]));
  }
  return lines.join('\n').trim();
}

/** The name of a command with its arguments and flags, but for those of the database, which all have. */
function usageOf(command: Command): string {
  const parents: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) parents.unshift(at.name());
  const args = command.registeredArguments.map((each) => {
    const text = `${each.name()}${each.variadic ? '…' : ''}`.toUpperCase();
    return each.required ? text : `[${text}]`;
  });
  const flags = command.options
    .filter(({ long }) => !long?.startsWith('--database'))
    .map(({ flags, mandatory }) => (mandatory ? flags : `[${flags}]`));
  const shown = command.name() === 'serve' ? ['[settings]'] : flags;
  return [...parents, ...args, ...shown].join(' ');
}

const code = (text: string) => `\`${text}\``;

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(documentsWithTables())) {
    writeFileSync(new URL(name, DOCS), text);
  }
}
