import { type Fault, StoreUnavailable } from '../../store.ts';

/** SQLSTATE codes, https://www.postgresql.org/docs/current/errcodes-appendix.html */
/** Raised by store_orders_expect_unchanged (migration 006). */
export const WAS_CHANGED = 'SO001';
export const INSUFFICIENT_PRIVILEGE = '42501';
/** A lock was not granted in time, or would have led to a deadlock. */
export const IS_LOCKED: readonly string[] = ['55P03', '40P01'];

/** Returns the SQLSTATE of an error reported by PostgreSQL, or undefined. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Returns the message of a driver error. An AggregateError of several attempts has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return messageOf(error.errors[0]);
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** Maps a driver error to StoreUnavailable. */
export function unavailable(error: unknown): StoreUnavailable {
  const message = messageOf(error);
  const words = isPasswordMissing(message)
    ? 'it requires a password; set one in the URL, PGPASSWORD or PGPASSFILE'
    : message;
  return new StoreUnavailable(`PostgreSQL: ${words}`, faultOf(error, message), { cause: error });
}

/** Recognizes the driver's errors for a missing password, whose wording suggests a bug in the program. */
function isPasswordMissing(message: string): boolean {
  return /client password must be a (?:non-empty )?string/.test(message);
}

/** Faults by SQLSTATE, or its first two or three characters. */
const FAULTS: Readonly<Record<string, Fault>> = {
  '08': 'unreachable',
  '57P': 'unreachable',
  '53300': 'unreachable',
  '55P03': 'locked',
  '40P01': 'locked',
  '57014': 'slow',
  '53100': 'full',
  '58P': 'damaged',
  XX001: 'damaged',
  XX002: 'damaged',
};

function faultOf(error: unknown, message: string): Fault {
  // Messages of the driver, which have no code.
  if (/^Query read timeout/.test(message)) return 'slow';
  if (/^timeout expired|^Connection terminated|^Client /.test(message)) return 'unreachable';
  const { code = '' } = (error instanceof AggregateError ? error.errors[0] : error) as {
    code?: string;
  };
  if (/^E[A-Z_]+$/.test(code)) return 'unreachable';
  return FAULTS[code] ?? FAULTS[code.slice(0, 3)] ?? FAULTS[code.slice(0, 2)] ?? 'failed';
}
