import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random.ts';
import { JUNK, type Script } from './script.ts';

/** A connection that has not ended by then is a finding. */
const LIMIT_MS = 15_000;
/** A client that has heard all it expects waits so long for more before it closes. */
const QUIET_MS = 30;
/** Packets of junk that a flood sends at most. */
const FLOOD_PACKETS = 2_000;

export interface Played {
  readonly received: Buffer;
  /** closed: by the server in good order, or by the client when it had heard enough. */
  readonly end: 'closed' | 'reset by the client' | 'reset by the server' | 'never';
}

/**
 * Plays a script on a connection of its own.
 * @param isEnough whether what was received holds all mandatory answers
 */
export async function play(
  { steps, delivery, ending, delayMs, stallAt }: Script,
  port: number,
  random: Random,
  isEnough: (received: Buffer) => boolean,
): Promise<Played> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  let wasReset = false;
  let limit: NodeJS.Timeout | undefined;
  const ended = new Promise<Played['end']>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET')
        resolve(wasReset ? 'reset by the client' : 'reset by the server');
    });
    socket.on('close', () => resolve(wasReset ? 'reset by the client' : 'closed'));
    limit = setTimeout(() => resolve('never'), LIMIT_MS);
  });
  // The server has said all it will say.
  socket.on('end', () => socket.end());
  let isSent = false;
  let quiet: NodeJS.Timeout | undefined;
  const closeWhenQuiet = () => {
    clearTimeout(quiet);
    if (ending === 'reset' || !isSent) return;
    quiet = setTimeout(() => {
      if (isEnough(Buffer.concat(chunks))) socket.end();
    }, QUIET_MS);
  };
  let hasStalled = false;
  const stall = () => {
    hasStalled = true;
    socket.pause();
    setTimeout(() => socket.resume(), delayMs);
  };
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    closeWhenQuiet();
    if (ending === 'stall' && !hasStalled && bytes >= stallAt) stall();
  });

  if (ending === 'stall' && stallAt === 0) stall();
  if (ending === 'flood') socket.pause();
  const request = Buffer.from(steps.map((step) => step.bytes).join(''), 'latin1');
  await send(socket, request, delivery, random);
  if (ending === 'halfClose') socket.end();
  if (ending === 'flood') {
    await flood(socket);
    socket.resume();
  }
  if (ending === 'reset') {
    if (delayMs > 0) await pause(delayMs);
    wasReset = !socket.destroyed;
    if (wasReset) socket.resetAndDestroy();
  }
  isSent = true;
  closeWhenQuiet();
  const end = await ended;
  clearTimeout(quiet);
  clearTimeout(limit);
  socket.destroy();
  return { received: Buffer.concat(chunks), end };
}

async function send(
  socket: Socket,
  bytes: Buffer,
  delivery: Script['delivery'],
  random: Random,
): Promise<void> {
  const most = {
    whole: bytes.length,
    pieces: 1 + random.below(600),
    dribble: 1 + random.below(40),
  };
  // At most so many pieces, whatever their size.
  const size = Math.max(most[delivery], Math.ceil(bytes.length / 50));
  for (let at = 0; at < bytes.length && socket.writable; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (delivery !== 'whole') await pause(random.below(2));
  }
}

/** Each write is a packet of its own for the server, as long as it takes them. */
async function flood(socket: Socket): Promise<void> {
  for (let sent = 0; sent < FLOOD_PACKETS && socket.writable; sent += 1) {
    if (!socket.write(JUNK)) break;
    await new Promise(setImmediate);
  }
}
