import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import type { Pet } from '../../domain/order.ts';
import {
  applyRecorded,
  type DatabaseFlags,
  databaseCommand,
  withStore,
} from '../command-database.ts';
import { PET_FIELDS, petOf } from '../files/fields.ts';
import { openInput } from '../files/input.ts';
import { Problems, readValues } from '../files/rows.ts';
import { counted, grouped, terminal, writeErr } from '../terminal/terminal.ts';
import { refuseProblems, SeenIds } from './import/check-file.ts';
import { PAUSE_MS } from './import/place-orders.ts';

/** Pets per transaction; one delays the cancels of a running service by some 10 ms. Each has an audit record. */
const BATCH = 1_000;

export function petsCommand(): Command {
  const importPetsCommand = databaseCommand(
    'import',
    'import pets (id, name, tag); replaces pets with the same id',
    'npx store-orders pets import pets.csv',
  )
    .argument('<file>', 'NDJSON, CSV or a JSON array; - for standard input')
    .addHelpText('after', '\nColumns (in JSON: fields): id (int64, required), name, tag.')
    .action(importPets);
  return new Command('pets')
    .description('pets for the deprecated lookup')
    .addCommand(importPetsCommand);
}

async function importPets(file: string, flags: DatabaseFlags): Promise<void> {
  using input = await openInput(file, terminal().stdin);
  using seen = new SeenIds();
  const problems = new Problems();
  let count = 0;
  const read = () => readValues(input.read(), PET_FIELDS, petOf);
  for await (const rows of read()) {
    count += rows.length;
    for (const row of rows) {
      const problem = row.problem ?? seen.add(row.value.id, row.at);
      if (problem !== undefined) problems.add(row.at, problem);
    }
  }
  refuseProblems(input, problems, count);
  await withStore(flags, 'create', async (store) => {
    const what = `${basename(input.name)}, ${counted(count, 'pet')}`;
    const waiting: Pet[] = [];
    let stored = 0;
    const put = async () => {
      const pets = waiting.splice(0, BATCH);
      const first = stored + 1;
      stored += pets.length;
      const part = count > BATCH ? `, from ${grouped(first)} to ${grouped(stored)}` : '';
      await applyRecorded(store, 'pets import', what + part, { type: 'putPets', pets });
    };
    for await (const rows of read()) {
      waiting.push(...rows.flatMap((row) => (row.problem === undefined ? row.value : [])));
      while (waiting.length >= BATCH) {
        await put();
        await pause(PAUSE_MS);
      }
    }
    if (waiting.length > 0) await put();
    writeErr(`Stored ${counted(count, 'pet')}.`);
  });
}
