import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where a server listens. */
export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Whether other processes may listen there too, and the kernel hands out connections: SO_REUSEPORT. */
  readonly reusePort?: boolean;
}

/** @throws what the system says of an address that cannot be had */
export async function listen(
  server: Server,
  { host, port, reusePort = false }: Address,
): Promise<AddressInfo> {
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
