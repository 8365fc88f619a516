import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { performer } from '../../client/conformance/perform.ts';
import { play, type Service, scenarios } from '../../client/conformance/play.ts';
import * as library from '../../client/src/client.ts';
import { startService } from '../http/harness.ts';

let service: Service;

before(async (t) => {
  const { port, secret, newKey } = await startService(t as never);
  const cancelKey = await newKey({ scopes: ['orders:cancel'] });
  service = { origin: `http://127.0.0.1:${port}`, key: secret, cancelKey };
});

// Most of their time is waiting.
describe('a client over a bad network', { concurrency: 12 }, () => {
  for (const scenario of scenarios()) {
    test(scenario.name, async () => {
      assert.deepEqual(await play(scenario, service, performer(library)), []);
    });
  }
});
