import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AuthenticationError,
  ConflictError,
  ForbiddenError,
  NotFoundError,
  OrderChangedError,
  StoreOrders,
} from '../../client/src/client.ts';
import { SCOPES } from '../../src/domain/api-key.ts';
import { startService } from '../http/harness.ts';

test('keys are created once, changed, rotated, invited and revoked', async (t) => {
  const { port, newKey } = await startService(t);
  const clientOf = (apiKey: string) =>
    new StoreOrders({ baseUrl: `http://127.0.0.1:${port}`, apiKey });
  const manager = clientOf(await newKey({ scopes: SCOPES, cancelsPerHour: 100 }));
  const asked = { name: 'shop', scopes: ['orders:read'] } as const;
  const once = { idempotencyKey: 'a-key' };
  const made = await manager.createKey(asked, once);
  assert.deepEqual(await manager.createKey(asked, once), made);
  const { id } = made.key;
  assert.equal((await clientOf(made.secret!).getKey()).id, id);
  assert.equal((await manager.updateKey(id, { name: 'web shop' })).name, 'web shop');
  const { etag } = await manager.getKeyById(id);
  await manager.updateKey(id, { cancelsPerHour: 20n }, { ifMatch: etag });
  const changed = manager.updateKey(id, { name: 'other' }, { ifMatch: etag });
  await assert.rejects(changed, OrderChangedError);
  const more = manager.updateKey(id, { scopes: ['orders:read', 'orders:ship'] });
  await assert.rejects(more, ForbiddenError);
  const { secret } = await manager.rotateKey(id, { overlapSeconds: 0n });
  await assert.rejects(clientOf(secret!).redeemInvitation(), ConflictError);
  const { invitation } = await manager.rotateKey(id, { invitation: true });
  const redeemed = await clientOf(invitation!).redeemInvitation();
  // 401 once the node has read the key again.
  const isUsed = (error: unknown) =>
    error instanceof ConflictError || error instanceof AuthenticationError;
  await assert.rejects(clientOf(invitation!).redeemInvitation(), isUsed);
  assert.equal((await clientOf(redeemed.secret).getKey()).name, 'web shop');
  assert.equal((await manager.revokeKey(id)).state, 'revoked');
  assert.equal((await manager.getKeyById(id)).state, 'revoked');
  assert.deepEqual(
    (await manager.listKeys({ state: 'revoked' })).map((key) => key.id),
    [id],
  );
  assert.equal((await manager.listKeys()).length, 3);
  await assert.rejects(manager.rotateKey(id), ConflictError);
  await assert.rejects(manager.getKeyById('key_none'), NotFoundError);
});
