import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usabilityOf } from '../../src/store/sqlite/usability.ts';
import { StoreUnavailable } from '../../src/store/store.ts';

const replaced = new StoreUnavailable('its files were replaced', 'replaced');
const damaged = new StoreUnavailable('pages are corrupt', 'damaged');

test('a store whose files were replaced stays so, although reads that began before find them damaged', async () => {
  const usability = usabilityOf('store.db', async () => true);
  const reading = usability.guard(async () => {
    usability.end(replaced);
    throw damaged;
  });
  await assert.rejects(reading, damaged);
  await assert.rejects(
    usability.guard(() => 1),
    replaced,
  );
});
