import type { Command } from 'commander';
import { type Config, readConfig } from '../../../service/settings/config.ts';
import { ConfigError, readEnvironment, type Settings } from '../../../service/settings/settings.ts';
import { type Finding, problem } from '../../../store/diagnosis.ts';
import { type DatabaseFlags, databaseCommand, databaseSettings } from '../../command-database.ts';
import {
  CommandFailed,
  counted,
  table,
  terminal,
  writeJson,
  writeOut,
} from '../../terminal/terminal.ts';
import { backupsOf } from './backups.ts';
import { configurationOf, misspeltOf, programOf, userOf } from './configuration.ts';
import { portsOf } from './ports.ts';
import { storeOf } from './store.ts';

export function doctorCommand(): Command {
  return databaseCommand(
    'doctor',
    'check everything that the service needs, and report what to do; run it with the environment of the service',
    'npx store-orders doctor\nnpx store-orders doctor --json',
  )
    .option('--json', 'print a JSON object')
    .addHelpText(
      'after',
      '\nIt changes nothing, and can run while the service runs. Exit code 1: there are problems; warnings do not count.',
    )
    .action(doctor);
}

async function doctor(flags: DatabaseFlags & { json?: true }): Promise<void> {
  const findings = await findingsOf(flags);
  const count = (level: Finding['level']) =>
    findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (flags.json) await writeJson({ problems, warnings, findings });
  else {
    const rows = findings.flatMap(({ subject, level, found, advice }) => [
      // A message can list several.
      [subject, level, found.replaceAll(/\n\s*/g, ' ')],
      ...(advice === undefined ? [] : [['', '', `-> ${advice}`]]),
    ]);
    const total = `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`;
    await writeOut(`${table(rows)}\n\n${total}\n`);
  }
  if (problems > 0) throw new CommandFailed(`the service has ${counted(problems, 'problem')}`);
}

async function findingsOf(flags: DatabaseFlags): Promise<Finding[]> {
  let environment: Settings;
  let config: Config;
  try {
    environment = readEnvironment(terminal().env);
    config = readConfig(environment, databaseSettings(flags));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const advice = 'see docs/configuration.md';
    const wrong = error.problems.map((each) => problem('configuration', each, advice));
    return [programOf(), ...wrong];
  }
  return [
    ...[programOf(), ...userOf(), ...configurationOf(config)],
    ...misspeltOf(environment),
    ...(await portsOf(config)),
    ...(await config.database.diagnose()),
    ...(await backupsOf(config)),
    ...(await storeOf(config)),
  ];
}
