import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListenAddress {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** SO_REUSEPORT: other processes may bind the same port, and the kernel distributes connections. */
  readonly reusePort?: boolean;
}

/**
 * Starts listening.
 * @returns the bound address
 * @throws the system error if the address cannot be bound
 */
export async function listen(
  server: Server,
  { host, port, reusePort = false }: ListenAddress,
): Promise<AddressInfo> {
  server.listen({ host, port, reusePort });
  await once(server, 'listening');
  return server.address() as AddressInfo;
}
