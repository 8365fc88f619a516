import { Command } from 'commander';
import { PET_COLUMNS, petOf } from '../files/fields.ts';
import { openInput } from '../files/input.ts';
import { SeenIds } from '../files/seen-ids.ts';
import { Problems, readValues } from '../files/values.ts';
import { type DatabaseFlags, databaseCommand, withStore } from './database.ts';
import { refuseProblems } from './import.ts';
import { grouped, say } from './output.ts';

export function petsCommand(): Command {
  const importPetsCommand = databaseCommand(
    'import',
    'store the pets of a file (id, name, tag) in place of those with the same id',
    'npx store-orders pets import pets.csv',
  )
    .argument('<file>', 'NDJSON, CSV or a JSON array; - for standard input')
    .action(importPets);
  return new Command('pets')
    .description('the pets that the deprecated lookup answers')
    .addCommand(importPetsCommand);
}

async function importPets(file: string, flags: DatabaseFlags): Promise<void> {
  const input = await openInput(file);
  const seen = new SeenIds();
  const problems = new Problems();
  const ignore = () => {};
  try {
    for await (const rows of readValues(input, PET_COLUMNS, petOf, problems, ignore)) {
      for (const { at, value } of rows) {
        const before = seen.add(value.id, at);
        if (before !== undefined) problems.add(at, `repeats the id ${value.id} of ${before}`);
      }
    }
    refuseProblems(input, problems);
    await withStore(flags, 'create', async (store) => {
      let count = 0;
      for await (const rows of readValues(input, PET_COLUMNS, petOf, problems, ignore)) {
        if (rows.length === 0) continue;
        await store.apply(rows.map(({ value: pet }) => ({ type: 'putPet', pet }) as const));
        count += rows.length;
      }
      say(`Stored ${grouped(count)} pets.`);
    });
  } finally {
    seen.close();
    input.close();
  }
}
