import type { Action } from '../worker.ts';
import { cancelV1, changeIfUnchanged, changeSeveral, changeV2 } from './change.ts';
import { cancelByClient, changeByCommand, listByClient, placeByClient } from './other-ways.ts';
import { place } from './place.ts';
import {
  listOrders,
  readActivity,
  readAgain,
  readChanges,
  readCounts,
  readHistory,
  readOrder,
  readPages,
  readWhileChanged,
} from './read.ts';

/** What workers do, each as often as it is listed here. */
export const ACTIONS: readonly Action[] = [
  ...Array<Action>(4).fill(cancelV1),
  ...Array<Action>(4).fill(changeV2),
  changeIfUnchanged,
  ...Array<Action>(2).fill(changeSeveral),
  ...Array<Action>(9).fill(place),
  ...Array<Action>(3).fill(readOrder),
  readHistory,
  readWhileChanged,
  ...Array<Action>(2).fill(readAgain),
  ...Array<Action>(3).fill(listOrders),
  ...Array<Action>(2).fill(readPages),
  ...Array<Action>(2).fill(readChanges),
  readCounts,
  readActivity,
  cancelByClient,
  placeByClient,
  listByClient,
  changeByCommand,
];
