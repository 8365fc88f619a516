import type { DatabaseError } from 'pg';
import { type Fault, StoreUnavailable } from '../../store.ts';

/** An SQLSTATE, as the others: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export const INSUFFICIENT_PRIVILEGE = '42501';

/** Returns the SQLSTATE of an error reported by PostgreSQL, or undefined. */
export function sqlState(error: unknown): string | undefined {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

export const USE_NO_POOLER =
  'a pooler shares the connections to PostgreSQL among its clients, so settings, locks and commits of a session would be those of ' +
  'others: connect to PostgreSQL directly, or through a pooler in session mode';

/** Advice for errors whose own message does not show what to do, by SQLSTATE or by the function of PostgreSQL that reports it. */
const ADVICE: Readonly<Record<string, string>> = {
  // A prepared statement exists already, or does not exist; a pooler does not support transactions, or a parameter of the URL.
  '42P05': USE_NO_POOLER,
  '26000': USE_NO_POOLER,
  '08P01': USE_NO_POOLER,
  '3F000': 'no schema of the search path exists; create it, or name another one in the URL',
  check_enable_rls:
    'row-level security hides rows from this role: use a role that owns the tables or has BYPASSRLS, or disable it for these tables',
};

/** Maps a driver error to StoreUnavailable. */
export function unavailable(error: unknown): StoreUnavailable {
  // An AggregateError of several attempts has no message of its own.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { code = '', routine = '', message = '' } = first as Partial<DatabaseError>;
  const advice = ADVICE[code] ?? ADVICE[routine];
  const words = PASSWORD_MISSING.test(message)
    ? 'it requires a password; set one in the URL, PGPASSWORD or PGPASSFILE'
    : [message || code || String(first), ...(advice === undefined ? [] : [advice])].join(': ');
  const fault = faultOf({ code, routine, message });
  return new StoreUnavailable(`PostgreSQL: ${words}`, fault, { cause: error });
}

/** The driver's errors for a missing password, whose wording suggests a bug in the program. */
const PASSWORD_MISSING = /client password must be a (?:non-empty )?string/;

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

/** A quota (EDQUOT) or a limit of the size of a file (EFBIG) has no code of its own: an internal error while a file grows. */
const EXTENDING = /^md(?:zero)?extend/;

function faultOf({
  code,
  routine,
  message,
}: Record<'code' | 'routine' | 'message', string>): Fault {
  // The driver's own messages have no code.
  if (/^Query read timeout/.test(message)) return 'slow';
  if (/^timeout expired|^Connection terminated|^Client /.test(message)) return 'unreachable';
  if (code === 'XX000' && EXTENDING.test(routine)) return 'full';
  if (/^E[A-Z_]+$/.test(code)) return 'unreachable';
  return FAULTS[code] ?? FAULTS[code.slice(0, 3)] ?? FAULTS[code.slice(0, 2)] ?? 'failed';
}
