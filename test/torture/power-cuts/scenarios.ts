import type { Scenario } from './scenario.ts';
import { backup } from './scenarios/backup.ts';
import { checkpoint } from './scenarios/checkpoint.ts';
import { copy, reactivate } from './scenarios/copy.ts';
import { firstStart } from './scenarios/first-start.ts';
import { importing } from './scenarios/import.ts';
import { load } from './scenarios/load.ts';
import { migration } from './scenarios/migration.ts';
import { restore } from './scenarios/restore.ts';
import { rotation } from './scenarios/rotation.ts';

/** Everything during which the power fails. */
export const SCENARIOS: readonly Scenario[] = [
  firstStart,
  load,
  checkpoint,
  importing,
  backup,
  restore,
  copy,
  reactivate,
  migration,
  rotation,
];
