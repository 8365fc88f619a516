import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** @throws what the system says of an address that cannot be had */
export async function listen(server: Server, { host, port }: Address): Promise<AddressInfo> {
  server.listen({ host, port });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
