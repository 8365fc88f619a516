import type { AddressInfo } from 'node:net';

/** What the primary asks its workers. */
export type Question = 'whyNotReady' | 'metrics';

/** From the primary to a worker. */
export type ToWorker =
  | { readonly type: 'ask'; readonly id: number; readonly question: Question }
  | { readonly type: 'logLevel'; readonly level: string }
  | { readonly type: 'stop' };

/** From a worker to the primary. */
export type ToPrimary =
  | { readonly type: 'serving'; readonly address: AddressInfo }
  | { readonly type: 'stopping' }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown };

/** The environment variable by which a worker hears which database file the others have. */
export const DATABASE_FILE = 'STORE_ORDERS_DATABASE_FILE';
