import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../torture/random.ts';
import { JUNK } from './requests.ts';
import type { Script } from './script.ts';

/** A connection that is still open after this time is a finding. */
const LIMIT_MS = 15_000;
/** How long a client waits for more after all expected responses, before it closes. */
const QUIET_MS = 30;
/** Maximum number of junk packets in a flood. */
const FLOOD_PACKETS = 2_000;

export interface PlayResult {
  readonly received: Buffer;
  /** closed: without a reset, by the server or by the client after all expected responses. */
  readonly end: 'closed' | 'reset by the client' | 'reset by the server' | 'never';
}

/**
 * Runs a script on a connection of its own.
 * @param isEnough whether the received bytes contain all mandatory responses
 */
export async function play(
  { steps, delivery, ending, delayMs, stallAt }: Script,
  port: number,
  random: Random,
  isEnough: (received: Buffer) => boolean,
): Promise<PlayResult> {
  const isStream = steps.some(({ body }) => body === 'stream');
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const chunks: Buffer[] = [];
  let wasReset = false;
  let limit: NodeJS.Timeout | undefined;
  const ended = new Promise<PlayResult['end']>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET')
        resolve(wasReset ? 'reset by the client' : 'reset by the server');
    });
    socket.on('close', () => resolve(wasReset ? 'reset by the client' : 'closed'));
    limit = setTimeout(() => resolve('never'), LIMIT_MS);
  });
  // The server has closed its side.
  socket.on('end', () => socket.end());
  let isSent = false;
  let quiet: NodeJS.Timeout | undefined;
  const closeWhenQuiet = () => {
    clearTimeout(quiet);
    if (ending === 'reset' || !isSent) return;
    quiet = setTimeout(() => {
      if (!isEnough(Buffer.concat(chunks))) return;
      // A stream goes on even if the client has closed its side.
      if (isStream) socket.destroy();
      else socket.end();
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
  // At most 50 pieces, whatever their size.
  const size = Math.max(most[delivery], Math.ceil(bytes.length / 50));
  for (let at = 0; at < bytes.length && socket.writable; at += size) {
    socket.write(bytes.subarray(at, at + size));
    if (delivery !== 'whole') await pause(random.below(2));
  }
}

/** Sends each write as a packet of its own, as long as the socket accepts them. */
async function flood(socket: Socket): Promise<void> {
  for (let sent = 0; sent < FLOOD_PACKETS && socket.writable; sent += 1) {
    if (!socket.write(JUNK)) break;
    await new Promise(setImmediate);
  }
}
