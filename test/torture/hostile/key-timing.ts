import { connect, type Socket } from 'node:net';
import { checksum, newSecret } from '../../../src/domain/api-key.ts';
import type { Random } from '../random.ts';
import { serveNew } from './store.ts';
import type { Attack } from './trial.ts';

const SAMPLES = 100_000;
/** Random characters at the end that differ. */
const OTHERS = 8;
const DIGITS = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];
/** The slowest responses are those that the machine has interrupted. */
const KEPT = 0.95;
const MOST = 4.5;
/** Samples before the memory is measured. */
const WARM_UP = 20_000;
/** A key alone has 57. */
const MOST_KEPT = 40;

/**
 * Compares the response times of keys that begin like a valid one with those of keys that begin like one that never existed, as dudect does:
 * Reparaz, Balasch and Verbauwhede, "Dude, is my code constant time?", 2017. Keys without a common beginning take a little longer than either:
 * the processor predicts what it has just done.
 */
export const keyTiming: Attack = {
  name: 'response times of keys that differ from a valid one in the last characters only',
  mustHold: `Welch's |t| against keys that begin like one that never existed is below ${MOST} over ${SAMPLES} samples; the process keeps at most ${MOST_KEPT} bytes for each`,
  make: async ({ folder, random }) => {
    const { server, secret } = await serveNew(folder, 10);
    const never = newSecret('production');
    const socket = connect({ port: server.port, host: '127.0.0.1', noDelay: true });
    const times: [number[], number[]] = [[], []];
    let before = 0;
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      if (sample === WARM_UP) before = (await server.usage()).bytes;
      const isAlike = random.chance(0.5);
      const took = await timeOf(socket, likeSecret(isAlike ? secret : never, random));
      times[isAlike ? 0 : 1].push(took);
    }
    const kept = ((await server.usage()).bytes - before) / (SAMPLES - WARM_UP);
    socket.destroy();
    await server.stop();
    const limit = [...times[0], ...times[1]].sort((one, other) => one - other)[
      Math.floor(SAMPLES * KEPT)
    ]!;
    const [alike, others] = times.map((each) => each.filter((time) => time < limit));
    const t = welch(alike!, others!);
    const figures = `t = ${t.toFixed(2)}; ${Math.max(0, kept).toFixed(0)} bytes`;
    return { figures, isKept: Math.abs(t) < MOST && kept <= MOST_KEPT };
  },
};

/**
 * Returns a key that has all random characters of another one but the last eight, with the checksum that they require. With fewer, keys would
 * be repeated, which is faster for reasons of its own.
 */
function likeSecret(secret: string, random: Random): string {
  const last = Array.from({ length: OTHERS }, () => random.pick(DIGITS)).join('');
  const start = secret.slice(0, -checksum(secret).length - OTHERS) + last;
  return start + checksum(start);
}

/** @returns microseconds from the request to its response */
function timeOf(socket: Socket, key: string): Promise<number> {
  // Strings of different origin are encoded at different speeds.
  const bytes = Buffer.from(
    `GET /v2/store/orders/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  return new Promise((resolve) => {
    const began = process.hrtime.bigint();
    socket.once('data', () => resolve(Number(process.hrtime.bigint() - began) / 1_000));
    socket.write(bytes);
  });
}

/** Welch's t, of two samples with different variances. */
export function welch(one: readonly number[], other: readonly number[]): number {
  const [first, second] = [momentsOf(one), momentsOf(other)];
  return (
    (first.mean - second.mean) /
    Math.sqrt(first.variance / one.length + second.variance / other.length)
  );
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return { mean, variance: squares / (values.length - 1) };
}
