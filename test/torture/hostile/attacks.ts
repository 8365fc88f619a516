import { aliases } from './aliases.ts';
import { bombs } from './bombs.ts';
import { canary } from './canary.ts';
import { endlessInput } from './endless-input.ts';
import { forbiddenKeys } from './forbidden-keys.ts';
import { idleConnections } from './idle-connections.ts';
import { keyTiming } from './key-timing.ts';
import { oddValues } from './odd-values.ts';
import { slowBodies } from './slow-bodies.ts';
import type { Attack } from './trial.ts';
import { unreadStreams } from './unread-streams.ts';
import { wrongKeys } from './wrong-keys.ts';

/** Everything that a hostile client is tried to do. */
export const ATTACKS: readonly Attack[] = [
  wrongKeys,
  keyTiming,
  idleConnections,
  endlessInput,
  unreadStreams,
  bombs,
  slowBodies,
  aliases,
  oddValues,
  forbiddenKeys,
  canary,
];
